// Fields in and out of samples.
#include <support/joint.hpp>

#include <algorithm>
#include <cstring>

#include <tenon/error.hpp>

namespace tenon::image_transforms {
namespace {

std::string at_index(const std::string& pointer, std::size_t index) { return pointer + "/" + std::to_string(index); }

[[noreturn]] void refuse(const FieldSpec& field, const std::string& what, const std::string& pointer) {
  throw Error(ErrorCode::kConfig, "\"" + field.name + "\" is " + to_string(field) + ", " + what, pointer);
}

const FieldSpec& field_of(const Spec& in, const std::string& name) {
  return in[static_cast<std::size_t>(index_of(in, name))];
}

/// As index_of, for a field that is changed.
FieldSpec& out_field(Spec& out, const std::string& name) { return out[static_cast<std::size_t>(index_of(out, name))]; }

/// "float32[5, 3]"
std::string spelled(const Array& array) {
  return to_string(FieldSpec{{}, array.dtype, {array.shape.begin(), array.shape.end()}});
}

}  // namespace

std::vector<Dtype> dtypes_of(Depths depths) {
  return depths == Depths::k8 ? std::vector{Dtype::kUint8} : std::vector{Dtype::kUint8, Dtype::kInt32};
}

Ports joint_ports(const std::optional<SizeAxes>& size, bool drops, Depths depths) {
  Ports ports;
  ports.in = {Port::of("$image", dtypes_of(depths), {"H", "W", "C"}), Port::of("$masks", {Dtype::kUint8}, {"H", "W"}),
              Port::of("$boxes", {Dtype::kFloat32}, {"n", 4})};
  if (drops) ports.in.push_back(Port::of("$with_boxes", {}, {"n", "*"}));
  ports.out = {Port::pass_all()};
  if (size) {
    ports.out.push_back(Port::of("$image", {}, {(*size)[0], (*size)[1], "C"}));  // of the type that came in
    ports.out.push_back(Port::of("$masks", {Dtype::kUint8}, {(*size)[0], (*size)[1]}));
  }
  if (drops) {
    ports.out.push_back(Port::of("$boxes", {Dtype::kFloat32}, {"kept", 4}));
    ports.out.push_back(Port::of("$with_boxes", {}, {"kept", "*"}));
  }
  return ports;
}

Example joint_example(const std::string& own, bool drops) {
  Example example;
  example.params = "{" + own + (own.empty() ? "" : ", ") + R"("masks": ["mask"], "boxes": "boxes")" +
                   (drops ? R"(, "with_boxes": ["classes"])" : "") + "}";
  example.inputs = {{{"image", Dtype::kUint8, {6, 7, 3}}, 0, 256},
                    {{"mask", Dtype::kUint8, {6, 7}}, 0, 4},
                    {{"boxes", Dtype::kFloat32, {5, 4}}, 0, 7},
                    {{"classes", Dtype::kInt64, {5}}, 0, 4}};
  return example;
}

template <class T>
Plane<const T> image_of(const Array& array, const std::string& field) {
  const std::span<const int64_t> shape = array.shape;
  if (array.dtype != dtype_for<T>() || shape.size() != 3 || shape[2] < 1 || shape[2] > 4) {
    throw Error(ErrorCode::kData, "\"" + field + "\" is " + spelled(array) + ", but an image is " +
                                      std::string(name_of(dtype_for<T>())) + "[H, W, C] with 1, 3 or 4 channels");
  }
  if (shape[0] == 0 || shape[1] == 0) throw Error(ErrorCode::kData, "\"" + field + "\" has no pixels");
  return {static_cast<const T*>(array.data), shape[0], shape[1], shape[2], shape[1] * shape[2]};
}

template Plane<const uint8_t> image_of<uint8_t>(const Array&, const std::string&);
template Plane<const int32_t> image_of<int32_t>(const Array&, const std::string&);

View mask_of(const Array& array, const Extent& extent, const std::string& field) {
  if (array.dtype != Dtype::kUint8 || array.shape.size() != 2 || array.shape[0] != extent.height ||
      array.shape[1] != extent.width) {
    throw Error(ErrorCode::kData, "mask \"" + field + "\" is " + spelled(array) + ", but its image has " +
                                      std::to_string(extent.height) + " x " + std::to_string(extent.width) + " pixels");
  }
  return {static_cast<const uint8_t*>(array.data), extent.height, extent.width, 1, extent.width};
}

std::span<const float> boxes_of(const Array& array, const std::string& field) {
  if (array.dtype != Dtype::kFloat32 || array.shape.size() != 2 || array.shape[1] != 4) {
    throw Error(ErrorCode::kData, "boxes \"" + field + "\" are " + spelled(array) + ", but boxes are float32[n, 4]");
  }
  return array.as<float>();
}

template <class T>
Plane<T> allocate_image(Sample& sample, const std::string& field, const Extent& extent, int64_t channels) {
  const std::array<int64_t, 3> shape{extent.height, extent.width, channels};
  const Array array = sample.allocate(field, dtype_for<T>(), shape);
  return {static_cast<T*>(array.data), extent.height, extent.width, channels, extent.width * channels};
}

template Plane<uint8_t> allocate_image<uint8_t>(Sample&, const std::string&, const Extent&, int64_t);
template Plane<int32_t> allocate_image<int32_t>(Sample&, const std::string&, const Extent&, int64_t);

const FieldSpec& require_image(const Spec& in, const std::string& field, Depths depths) {
  const FieldSpec& image = field_of(in, field);
  const std::vector<Dtype> dtypes = dtypes_of(depths);
  const bool typed = std::find(dtypes.begin(), dtypes.end(), image.dtype) != dtypes.end();
  if (!typed && image.dtype == Dtype::kInt32 && image.shape.size() == 3) {
    refuse(image,
           "an image of 16 bits, but this transform takes images of 8 bits alone, uint8[H, W, C]: give the dataset "
           "\"bits\": 8, or leave this transform out",
           "/image");
  }
  if (!typed || image.shape.size() != 3) {
    refuse(image,
           depths == Depths::k8 ? "but an image is uint8[H, W, C] here, channels last"
                                : "but an image is uint8[H, W, C] here, or int32[H, W, C] of 16 bits, channels last",
           "/image");
  }
  const Dim& channels = image.shape[2];
  if (channels.fixed() && channels.size != 1 && channels.size != 3 && channels.size != 4) {
    refuse(image, "but an image has 1, 3 or 4 channels, which come last", "/image");
  }
  return image;
}

std::vector<uint8_t> bytes_of(const std::vector<int64_t>& values) {
  std::vector<uint8_t> bytes;
  bytes.reserve(values.size());
  for (const int64_t value : values) bytes.push_back(static_cast<uint8_t>(value));
  return bytes;
}

Joint::Joint(JointParams params, bool drops, Depths depths)
    : params_(std::move(params)), drops_(drops), depths_(depths) {
  std::vector<std::pair<std::string, std::string>> named{{params_.image, "/image"}};
  for (std::size_t i = 0; i < params_.masks.size(); ++i) named.emplace_back(params_.masks[i], at_index("/masks", i));
  if (!params_.boxes.empty()) named.emplace_back(params_.boxes, "/boxes");
  for (std::size_t i = 0; i < params_.with_boxes.size(); ++i) {
    named.emplace_back(params_.with_boxes[i], at_index("/with_boxes", i));
  }
  for (auto each = named.begin(); each != named.end(); ++each) {
    const bool twice = std::any_of(named.begin(), each, [&](const auto& other) { return other.first == each->first; });
    if (twice) throw Error(ErrorCode::kConfig, "\"" + each->first + "\" is named twice", each->second);
  }
  if (params_.boxes.empty() && !params_.with_boxes.empty()) {
    throw Error(ErrorCode::kConfig, "these fields belong to boxes, but \"boxes\" names none", "/with_boxes");
  }
}

Spec Joint::spec(const Spec& in, const std::optional<std::array<Dim, 2>>& size,
                 const std::vector<int64_t>& fill) const {
  Spec out = in;
  const auto resize = [&](const std::string& name) {
    if (size) std::copy(size->begin(), size->end(), out_field(out, name).shape.begin());
  };
  require_colour(fill, require_image(in, params_.image, depths_));
  resize(params_.image);
  for (std::size_t i = 0; i < params_.masks.size(); ++i) {
    const FieldSpec& mask = field_of(in, params_.masks[i]);
    if (mask.dtype != Dtype::kUint8 || mask.shape.size() != 2) {
      refuse(mask, "but a mask is uint8[H, W]", at_index("/masks", i));
    }
    resize(mask.name);
  }
  if (params_.boxes.empty()) return out;
  const FieldSpec& boxes = field_of(in, params_.boxes);
  const bool rows_of_four = boxes.shape.size() == 2 && (!boxes.shape[1].fixed() || boxes.shape[1].size == 4);
  if (boxes.dtype != Dtype::kFloat32 || !rows_of_four) refuse(boxes, "but boxes are float32[n, 4]", "/boxes");
  if (!drops_) return out;
  // How many stay is another number; where it has a name already, that stands for it in all fields.
  const Dim kept = boxes.shape[0].fixed() ? Dim() : boxes.shape[0];
  out_field(out, params_.boxes).shape[0] = kept;
  for (std::size_t i = 0; i < params_.with_boxes.size(); ++i) {
    const FieldSpec& rows = field_of(in, params_.with_boxes[i]);
    if (rows.shape.empty()) refuse(rows, "but it must have a row for each box", at_index("/with_boxes", i));
    out_field(out, rows.name).shape[0] = kept;
  }
  return out;
}

void Joint::require_colour(const std::vector<int64_t>& fill, const FieldSpec& image) const {
  const Dim& channels = image.shape[2];
  if (fill.size() > 1 && channels.fixed() && static_cast<int64_t>(fill.size()) != channels.size) {
    throw Error(ErrorCode::kConfig,
                "fill has " + std::to_string(fill.size()) + " elements, but \"" + params_.image + "\" has " +
                    std::to_string(channels.size) + " channels: give one for each, or one for all",
                "/fill");
  }
  for (std::size_t i = 0; image.dtype == Dtype::kUint8 && i < fill.size(); ++i) {
    if (fill[i] <= kWhite8) continue;
    throw Error(ErrorCode::kConfig,
                "\"" + params_.image + "\" is of 8 bits, whose values are 0 to " + std::to_string(kWhite8) +
                    "; more is for images of 16 bits",
                at_index("/fill", i));
  }
}

void Joint::follow(Sample& sample, const Extent& extent, std::span<const Map> maps, const Style& style) const {
  draw_masks(sample, extent, maps, style);
  if (!params_.boxes.empty()) move_boxes(sample, maps);
}

void Joint::draw_masks(Sample& sample, const Extent& extent, std::span<const Map> maps, const Style& style) const {
  std::vector<Map> changing;
  Extent seen = extent;
  for (const Map& map : maps) {
    if (!map.is_identity(seen)) changing.push_back(map);
    seen = map.out;
  }
  for (const std::string& name : params_.masks) {
    View mask = mask_of(sample.at(name), extent, name);
    if (changing.empty()) continue;
    std::array<std::vector<uint8_t>, 2> between;
    for (std::size_t i = 0; i < changing.size(); ++i) {
      const Extent out = changing[i].out;
      Canvas canvas{nullptr, out.height, out.width, 1, out.width};
      if (i + 1 == changing.size()) {
        const std::array<int64_t, 2> shape{out.height, out.width};
        canvas.data = static_cast<uint8_t*>(sample.allocate(name, Dtype::kUint8, shape).data);
      } else {
        between[i % 2].resize(static_cast<std::size_t>(out.height * out.width));
        canvas.data = between[i % 2].data();
      }
      draw_mask(mask, changing[i], style, canvas);
      mask = canvas;
    }
  }
}

void Joint::move_boxes(Sample& sample, std::span<const Map> maps) const {
  const std::span<const float> from = boxes_of(sample.at(params_.boxes), params_.boxes);
  const auto count = static_cast<int64_t>(from.size() / 4);
  std::vector<float> moved;
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < count; ++i) {
    Box box{};
    std::copy_n(from.begin() + i * 4, 4, box.begin());
    double visible = 1;
    for (const Map& map : maps) {
      const MappedBox mapped = map_box(box, map);
      box = mapped.box;
      visible *= mapped.visible;
    }
    if (drops_ && (!(visible > 0) || visible < params_.min_visible)) continue;
    kept.push_back(i);
    moved.insert(moved.end(), box.begin(), box.end());
  }
  const std::array<int64_t, 2> shape{static_cast<int64_t>(kept.size()), 4};
  const Array out = sample.allocate(params_.boxes, Dtype::kFloat32, shape);
  std::copy(moved.begin(), moved.end(), static_cast<float*>(out.data));
  if (!drops_) return;
  for (const std::string& name : params_.with_boxes) keep_rows(sample, name, kept, count);
}

void Joint::keep_rows(Sample& sample, const std::string& field, std::span<const int64_t> kept, int64_t count) const {
  const Array in = sample.at(field);
  if (in.shape.empty() || in.shape[0] != count) {
    throw Error(ErrorCode::kData,
                "\"" + field + "\" is " + spelled(in) + ", but there are " + std::to_string(count) + " boxes");
  }
  Shape shape(in.shape.begin(), in.shape.end());
  shape[0] = static_cast<int64_t>(kept.size());
  const Array out = sample.allocate(field, in.dtype, shape);
  if (kept.empty() || count == 0) return;
  const std::size_t row = in.bytes() / static_cast<std::size_t>(count);
  auto* to = static_cast<std::byte*>(out.data);
  for (const int64_t i : kept) {
    if (row > 0) std::memcpy(to, static_cast<const std::byte*>(in.data) + static_cast<std::size_t>(i) * row, row);
    to += row;
  }
}

}  // namespace tenon::image_transforms
