// The safetensors format, written canonically and read with distrust.
#include <core/storage/safetensors.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;  // the reference reader's limit
constexpr std::string_view kMetadataName = "__metadata__";

struct DtypeName {
  Dtype dtype;
  std::string_view name;
};

/// In the order in which tensors lie in a file: the reference writer's.
constexpr std::array kDtypes{DtypeName{Dtype::kInt64, "I64"},     DtypeName{Dtype::kFloat64, "F64"},
                             DtypeName{Dtype::kFloat32, "F32"},   DtypeName{Dtype::kInt32, "I32"},
                             DtypeName{Dtype::kBfloat16, "BF16"}, DtypeName{Dtype::kFloat16, "F16"},
                             DtypeName{Dtype::kInt16, "I16"},     DtypeName{Dtype::kInt8, "I8"},
                             DtypeName{Dtype::kUint8, "U8"},      DtypeName{Dtype::kBool, "BOOL"}};

std::size_t rank_of(Dtype dtype) {
  return static_cast<std::size_t>(std::ranges::find(kDtypes, dtype, &DtypeName::dtype) - kDtypes.begin());
}

Error unwritable(const std::string& what) {
  return Error(ErrorCode::kStorage, fmt::format("cannot write safetensors: {}", what));
}

std::vector<const NamedArray*> in_file_order(std::span<const NamedArray> tensors) {
  std::vector<const NamedArray*> order;
  order.reserve(tensors.size());
  for (const NamedArray& tensor : tensors) {
    order.push_back(&tensor);
  }
  std::ranges::sort(order, [](const NamedArray* a, const NamedArray* b) {
    return std::pair(rank_of(a->array.dtype), std::string_view{a->name}) <
           std::pair(rank_of(b->array.dtype), std::string_view{b->name});
  });
  return order;
}

void check_names(std::span<const NamedArray> tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const NamedArray& tensor : tensors) {
    if (tensor.name.empty()) throw unwritable("a tensor has no name");
    if (tensor.name == kMetadataName) throw unwritable("no tensor may be named \"__metadata__\"");
    names.push_back(tensor.name);
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    throw unwritable(fmt::format("two tensors are named \"{}\"", *twice));
  }
}

std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw unwritable("a name is not UTF-8");
  }
}

/// Length and header, padded so that the bytes of the tensors start at a multiple of 8.
std::string head_of(const std::vector<const NamedArray*>& order, const Metadata& metadata) {
  std::string head(kLengthBytes, '\0');
  head += '{';
  const auto separate = [&head] {
    if (head.back() != '{') head += ',';
  };
  if (!metadata.empty()) {
    head += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      separate();
      head += quoted(key) + ":" + quoted(value);
    }
    head += '}';
  }
  uint64_t offset = 0;
  for (const NamedArray* tensor : order) {
    const uint64_t end = offset + tensor->array.bytes();
    separate();
    fmt::format_to(std::back_inserter(head), R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                   quoted(tensor->name), kDtypes[rank_of(tensor->array.dtype)].name,
                   fmt::join(tensor->array.shape, ","), offset, end);
    offset = end;
  }
  head += '}';
  head.append((kLengthBytes - head.size() % kLengthBytes) % kLengthBytes, ' ');
  const uint64_t length = head.size() - kLengthBytes;
  if (length > kMaxHeader) throw unwritable("names and shapes take more than 100 MB");
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    head[i] = static_cast<char>(length >> (8 * i) & 0xff);
  }
  return head;
}

/// What is wrong with a file, without the file's name: read() and parse() add it.
[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

uint64_t header_length(std::span<const std::byte> first, uint64_t file_size) {
  if (file_size < kLengthBytes) {
    refuse(fmt::format("it has {} bytes, a safetensors file has at least 10: it is empty or was cut off", file_size));
  }
  uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint64_t>(first[i]) << (8 * i);
  }
  if (length > kMaxHeader) refuse("it does not start with a header of sensible length: it is no safetensors file");
  if (length > file_size - kLengthBytes) {
    refuse(fmt::format("its header ends at byte {}, the file at {}: it was cut off", length + kLengthBytes, file_size));
  }
  return length;
}

uint64_t unsigned_of(const nlohmann::json& json, const std::string& tensor) {
  if (!json.is_number_unsigned()) refuse(fmt::format("tensor \"{}\": {} is no unsigned integer", tensor, json.dump()));
  return json.get<uint64_t>();
}

/// Bytes of a tensor, or nothing when they do not fit into 63 bits. Axes of size 0 are left aside for that: whoever
/// multiplies the sizes in their order must not overflow before he comes to one.
std::optional<uint64_t> bytes_of_shape(const Shape& shape, Dtype dtype) {
  uint64_t total = size_of(dtype);
  for (const int64_t axis : shape) {
    if (axis == 0) continue;
    if (static_cast<uint64_t>(axis) > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / total) return {};
    total *= static_cast<uint64_t>(axis);
  }
  return std::ranges::find(shape, 0) == shape.end() ? total : 0;
}

template <class Function>
Safetensors with_name(const std::string& name, const Function& function) {
  try {
    return function();
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::kCheckpoint, fmt::format("{} cannot be read as safetensors: {}", name, error.what()));
  }
}

}  // namespace

void write_safetensors(std::span<const NamedArray> tensors, const Metadata& metadata, ByteSink& sink) {
  check_names(tensors);
  const std::vector<const NamedArray*> order = in_file_order(tensors);
  sink.write(bytes_of(head_of(order, metadata)));
  for (const NamedArray* tensor : order) {
    sink.write({static_cast<const std::byte*>(tensor->array.data), tensor->array.bytes()});
  }
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedArray> tensors,
                       const Metadata& metadata) {
  AtomicFile file(path);
  struct ToFile final : ByteSink {
    explicit ToFile(AtomicFile& into) : file_(into) {}
    void write(std::span<const std::byte> bytes) override { file_.write(bytes); }
    AtomicFile& file_;
  } sink(file);
  write_safetensors(tensors, metadata, sink);
  file.commit();
}

uint64_t safetensors_size(std::span<const NamedArray> tensors, const Metadata& metadata) {
  uint64_t size = head_of(in_file_order(tensors), metadata).size();
  for (const NamedArray& tensor : tensors) {
    size += tensor.array.bytes();
  }
  return size;
}

Safetensors Safetensors::read(const std::filesystem::path& path) {
  const OpenedFile opened = open_for_reading(path, ErrorCode::kCheckpoint);
  return with_name(path.string(), [&] {
    std::array<std::byte, kLengthBytes> first{};
    const auto read = [&](uint64_t offset, std::span<std::byte> into) {
      read_at(opened.file, offset, into, path, ErrorCode::kCheckpoint);
    };
    if (opened.size >= kLengthBytes) read(0, first);
    const uint64_t length = header_length(first, opened.size);
    std::string header(static_cast<std::size_t>(length), '\0');
    read(kLengthBytes, std::as_writable_bytes(std::span(header)));
    Memory data;
    data.size = static_cast<std::size_t>(opened.size - kLengthBytes - length);
    data.bytes = std::make_unique_for_overwrite<std::byte[]>(data.size);
    read(kLengthBytes + length, {data.bytes.get(), data.size});
    return Safetensors(header, std::move(data));
  });
}

Safetensors Safetensors::parse(std::span<const std::byte> bytes, const std::string& name) {
  return with_name(name, [&] {
    const auto length = static_cast<std::size_t>(header_length(bytes, bytes.size()));
    const auto rest = bytes.subspan(kLengthBytes + length);
    const std::string header(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
    Memory data{std::make_unique_for_overwrite<std::byte[]>(rest.size()), rest.size()};
    std::ranges::copy(rest, data.bytes.get());
    return Safetensors(header, std::move(data));
  });
}

Safetensors::Safetensors(std::string_view header, Memory data) : data_(std::move(data)) {
  if (!header.starts_with('{')) refuse("its header is not a JSON object");
  const auto entries = parse_strictly<nlohmann::json>(header);
  for (const auto& [name, entry] : entries.items()) {
    if (name == kMetadataName) {
      if (!entry.is_object()) refuse("\"__metadata__\" is not an object of strings");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) refuse(fmt::format("\"__metadata__\" holds \"{}\", which is no string", key));
        metadata_[key] = value.get<std::string>();
      }
    } else {
      take_entry(name, entry);
    }
  }
  place_tensors();
}

void Safetensors::take_entry(const std::string& name, const nlohmann::json& entry) {
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    refuse(fmt::format("tensor \"{}\" is not described by exactly dtype, shape and data_offsets", name));
  }
  const nlohmann::json& type = entry["dtype"];
  const nlohmann::json& axes = entry["shape"];
  const nlohmann::json& offsets = entry["data_offsets"];
  const auto* const dtype = std::ranges::find_if(kDtypes, [&type](const DtypeName& each) {
    return type.is_string() && type.get_ref<const std::string&>() == each.name;
  });
  if (dtype == kDtypes.end()) {
    refuse(fmt::format("tensor \"{}\" has the element type {}, which is not supported", name, type.dump()));
  }
  if (!axes.is_array()) refuse(fmt::format("tensor \"{}\": shape is not a list", name));
  if (!offsets.is_array() || offsets.size() != 2) {
    refuse(fmt::format("tensor \"{}\": data_offsets is not a list of two offsets", name));
  }
  Tensor& tensor = tensors_.emplace_back();
  tensor.name = name;
  for (const nlohmann::json& axis : axes) {
    const uint64_t size = unsigned_of(axis, name);
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      refuse(fmt::format("tensor \"{}\": its shape is too large", name));
    }
    tensor.shape.push_back(static_cast<int64_t>(size));
  }
  const uint64_t begin = unsigned_of(offsets[0], name);
  const uint64_t end = unsigned_of(offsets[1], name);
  if (begin > end || end > data_.size) {
    refuse(fmt::format("tensor \"{}\" lies at bytes {} to {} of {}: it was cut off or is damaged", name, begin, end,
                       data_.size));
  }
  const std::optional<uint64_t> bytes = bytes_of_shape(tensor.shape, dtype->dtype);
  if (!bytes) refuse(fmt::format("tensor \"{}\": its shape is too large", name));
  if (*bytes != end - begin) {
    refuse(fmt::format("tensor \"{}\": {} [{}] does not fill the {} bytes that are there for it", name, dtype->name,
                       fmt::join(tensor.shape, ", "), end - begin));
  }
  tensor.array = {data_.bytes.get() + begin, dtype->dtype, {}};
}

/// All bytes belong to exactly one tensor, and every array can be read as its element type.
void Safetensors::place_tensors() {
  std::vector<Tensor*> order;
  for (Tensor& tensor : tensors_) {
    tensor.array.shape = tensor.shape;
    order.push_back(&tensor);
  }
  const auto begin_of = [this](const Tensor& tensor) {
    return static_cast<uint64_t>(static_cast<std::byte*>(tensor.array.data) - data_.bytes.get());
  };
  std::ranges::sort(order, {}, [&](const Tensor* tensor) {
    return std::tuple(begin_of(*tensor), tensor->array.bytes(), std::string_view{tensor->name});
  });
  uint64_t expected = 0;
  for (const Tensor* tensor : order) {
    if (begin_of(*tensor) != expected) {
      refuse(fmt::format("tensor \"{}\" starts at byte {} where byte {} is due: tensors overlap or leave a gap",
                         tensor->name, begin_of(*tensor), expected));
    }
    expected += tensor->array.bytes();
  }
  if (expected != data_.size) {
    refuse(fmt::format("its tensors end at byte {}, the file has {}", expected, data_.size));
  }
  for (Tensor* tensor : order) {
    Array& array = tensor->array;
    const auto* bytes = static_cast<const std::byte*>(array.data);
    if (array.dtype == Dtype::kBool &&
        std::any_of(bytes, bytes + array.bytes(), [](std::byte b) { return b > std::byte{1}; })) {
      refuse(fmt::format("tensor \"{}\": a bool is neither 0 nor 1", tensor->name));
    }
    if (begin_of(*tensor) % size_of(array.dtype) != 0) {
      auto& copy = realigned_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(array.bytes()));
      std::copy_n(bytes, array.bytes(), copy.get());
      array.data = copy.get();
    }
  }
}

const Safetensors::Tensor* Safetensors::own(std::string_view name) const noexcept {
  const auto place = std::ranges::lower_bound(tensors_, name, {}, &Tensor::name);
  return place != tensors_.end() && place->name == name ? &*place : nullptr;
}

const Safetensors::Tensor* Safetensors::find(std::string_view name) const noexcept {
  if (const Tensor* tensor = own(name)) return tensor;
  const auto alias = metadata_.find(name);
  return alias == metadata_.end() ? nullptr : own(alias->second);
}

Metadata Safetensors::aliases() const {
  Metadata found;
  for (const auto& [alias, name] : metadata_) {
    if (own(alias) == nullptr && own(name) != nullptr) found[alias] = name;
  }
  return found;
}

}  // namespace tenon::core
