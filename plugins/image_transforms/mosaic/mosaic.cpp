// transform:mosaic: four images around a random point become one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include <support/geometric.hpp>
#include <support/ranges.hpp>
#include <tenon/components/multi_sample.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct MosaicParams : JointParams8, SizeParams {
  std::vector<double> center{0.25, 0.75};

  TENON_PARAMS(MosaicParams, TENON_SIZE_FIELDS(MosaicParams),
               tenon::field(&MosaicParams::center, "center",
                            "Where the four images meet: least and largest share of height and of width")
                   .min(0)
                   .max(1)
                   .min_items(2),
               TENON_CUT_FIELDS(MosaicParams))
};

/// Four samples in the quarters around a point: the sample itself above and to the left of it, then the others to the
/// right and in the row below. Each image keeps its shape, covers its quarter with the corner that lies at the point,
/// and is cut off beyond. After Bochkovskiy et al., "YOLOv4: optimal speed and accuracy of object detection", 2020.
class Mosaic final : public Transform, public MultiSample {
 public:
  explicit Mosaic(const MosaicParams& params)
      : joint_(params, true, Depths::k8),
        params_(params),
        extent_(params.extent()),
        center_(range_of(params.center, "/center")) {}

  static Ports ports() { return joint_ports(SizeAxes{"$height", "$width"}, true, Depths::k8); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static std::vector<std::string> abilities() { return {MultiSample::kAbility}; }
  static Example example() { return joint_example(R"("height": 6, "width": 8)", true); }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == MultiSample::kAbility ? static_cast<MultiSample*>(this) : nullptr;
  }

  [[nodiscard]] int64_t others() const noexcept override { return 3; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    return joint_.spec(in, {{Dim(extent_.height), Dim(extent_.width)}}, Style().fill);
  }

  /// Without others, the sample stands in all four quarters.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    const std::array<const Sample*, 3> itself{&sample, &sample, &sample};
    apply_with(sample, itself, random, when);
  }

  /// Two draws: row and column of the point.
  void apply_with(Sample& sample, std::span<const Sample* const> others, Rng& random,
                  const When& /*when*/) const override {
    const auto split = [&](int64_t side) {
      return static_cast<int64_t>(std::nearbyint(center_.draw(random) * static_cast<double>(side)));
    };
    const int64_t row = split(extent_.height);
    const int64_t column = split(extent_.width);
    std::array<Tile, 4> tiles;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      Tile& tile = tiles[i];
      tile.sample = i == 0 ? &sample : others[i - 1];
      const bool right = i % 2 == 1;
      const bool below = i >= 2;
      tile.place = {below ? row : 0, right ? column : 0, below ? extent_.height - row : row,
                    right ? extent_.width - column : column};
      tile.image = joint_.image(*tile.sample);
      if (tile.place.height > 0 && tile.place.width > 0) tile.map = covering(tile, !below, !right);
    }
    draw_images(sample, tiles);
    for (const std::string& mask : params_.masks) draw_masks(sample, tiles, mask);
    if (!params_.boxes.empty()) move_boxes(sample, tiles);
  }

 private:
  struct Tile {
    const Sample* sample = nullptr;
    Region place;  ///< In the result.
    View image;
    std::optional<Map> map;  ///< Nothing where there is no place for it.
  };

  /// The window whose corner at the point is the image's, in the shape of the place.
  static Map covering(const Tile& tile, bool at_bottom, bool at_right) {
    const double scale = std::max(static_cast<double>(tile.place.height) / static_cast<double>(tile.image.height),
                                  static_cast<double>(tile.place.width) / static_cast<double>(tile.image.width));
    const auto part = [&](int64_t place, int64_t whole) {
      return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(static_cast<double>(place) / scale)), 1, whole);
    };
    const int64_t height = part(tile.place.height, tile.image.height);
    const int64_t width = part(tile.place.width, tile.image.width);
    Map map =
        Map::cut({at_bottom ? tile.image.height - height : 0, at_right ? tile.image.width - width : 0, height, width});
    map.out = {tile.place.height, tile.place.width};
    return map;
  }

  void draw_images(Sample& sample, const std::array<Tile, 4>& tiles) const {
    const int64_t channels = tiles[0].image.channels;
    const Canvas out = allocate_image(sample, params_.image, extent_, channels);
    for (const Tile& tile : tiles) {
      if (tile.image.channels != channels) {
        throw Error(ErrorCode::kData, "images of " + std::to_string(channels) + " and " +
                                          std::to_string(tile.image.channels) +
                                          " channels make no mosaic: bring them to one form before");
      }
      if (tile.map) draw_image(tile.image, *tile.map, {}, out.part(tile.place));
    }
  }

  void draw_masks(Sample& sample, const std::array<Tile, 4>& tiles, const std::string& name) const {
    const std::array<int64_t, 2> shape{extent_.height, extent_.width};
    const Array array = sample.allocate(name, Dtype::kUint8, shape);
    const Canvas out{static_cast<uint8_t*>(array.data), extent_.height, extent_.width, 1, extent_.width};
    for (const Tile& tile : tiles) {
      const View mask = mask_of(tile.sample->at(name), tile.image.extent(), name);
      if (tile.map) draw_mask(mask, *tile.map, {}, out.part(tile.place));
    }
  }

  void move_boxes(Sample& sample, const std::array<Tile, 4>& tiles) const {
    std::vector<float> boxes;
    std::array<std::vector<int64_t>, 4> kept;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const std::span<const float> from = boxes_of(tiles[i].sample->at(params_.boxes), params_.boxes);
      for (std::size_t row = 0; tiles[i].map && row < from.size() / 4; ++row) {
        MappedBox moved =
            map_box({from[row * 4], from[row * 4 + 1], from[row * 4 + 2], from[row * 4 + 3]}, *tiles[i].map);
        if (!(moved.visible > 0) || moved.visible < params_.min_visible) continue;
        kept[i].push_back(static_cast<int64_t>(row));
        for (std::size_t edge = 0; edge < 4; ++edge) {
          boxes.push_back(moved.box[edge] +
                          static_cast<float>(edge % 2 == 0 ? tiles[i].place.left : tiles[i].place.top));
        }
      }
    }
    const std::array<int64_t, 2> shape{static_cast<int64_t>(boxes.size() / 4), 4};
    const Array out = sample.allocate(params_.boxes, Dtype::kFloat32, shape);
    std::copy(boxes.begin(), boxes.end(), static_cast<float*>(out.data));
    for (const std::string& name : params_.with_boxes) join_rows(sample, tiles, kept, name);
  }

  void join_rows(Sample& sample, const std::array<Tile, 4>& tiles, const std::array<std::vector<int64_t>, 4>& kept,
                 const std::string& name) const {
    const Array first = tiles[0].sample->at(name);
    Shape shape(first.shape.begin(), first.shape.end());
    int64_t rows = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const Array each = tiles[i].sample->at(name);
      const int64_t count = tiles[i].sample->at(params_.boxes).shape[0];
      if (each.shape.empty() || each.shape[0] != count || each.dtype != first.dtype ||
          !std::equal(each.shape.begin() + 1, each.shape.end(), shape.begin() + 1, shape.end())) {
        throw Error(ErrorCode::kData, "\"" + name + "\" has no row of one form for each box of the four samples");
      }
      rows += static_cast<int64_t>(kept[i].size());
    }
    shape[0] = rows;
    const Array out = sample.allocate(name, first.dtype, shape);
    auto* to = static_cast<std::byte*>(out.data);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const Array each = tiles[i].sample->at(name);
      for (const int64_t row : kept[i]) {
        const std::size_t bytes = each.bytes() / static_cast<std::size_t>(each.shape[0]);
        if (bytes == 0) continue;
        std::memcpy(to, static_cast<const std::byte*>(each.data) + static_cast<std::size_t>(row) * bytes, bytes);
        to += bytes;
      }
    }
  }

  Joint joint_;
  JointParams params_;
  Extent extent_;
  Range center_;
};

TENON_COMPONENT(Mosaic, MosaicParams, "mosaic", "Puts four samples around a random point together to one image")

}  // namespace tenon::image_transforms
