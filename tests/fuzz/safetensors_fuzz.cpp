// Safetensors: what is taken, written and taken again is the same; what is not taken is an error that names the file.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/storage/file.hpp>
#include <core/storage/safetensors.hpp>
#include <fuzz/fuzz.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

using fuzz::claim;

constexpr std::size_t kLengthBytes = 8;

class ToString final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text;
};

std::string_view bytes_in(const Array& array) { return {static_cast<const char*>(array.data), array.bytes()}; }

std::optional<Safetensors> parse(std::string_view file) {
  try {
    return Safetensors::parse(bytes_of(file), "FILE");
  } catch (const Error& error) {
    claim(error.code() == ErrorCode::kCheckpoint, "a refusal is one of a checkpoint", error.what());
    claim(std::string_view(error.what()).starts_with("FILE cannot be read as safetensors: "),
          "a refusal names the file", error.what());
    return {};
  }
}

/// Each tensor is what the header, read by another way, says of it.
void check_content(std::string_view file, const Safetensors& content) {
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  const auto header = nlohmann::json::parse(file.substr(kLengthBytes, static_cast<std::size_t>(length)));
  const std::string_view data = file.substr(kLengthBytes + static_cast<std::size_t>(length));
  claim(header.size() == content.tensors().size() + (header.contains("__metadata__") ? 1 : 0),
        "every entry is a tensor");
  std::size_t total = 0;
  for (const Safetensors::Tensor& tensor : content.tensors()) {
    const auto& entry = header.at(tensor.name);
    claim(entry.at("shape").get<Shape>() == tensor.shape, "a tensor has its shape", tensor.name);
    claim(std::ranges::equal(tensor.array.shape, tensor.shape), "an array views its tensor's shape", tensor.name);
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    claim(bytes_in(tensor.array) == data.substr(begin, tensor.array.bytes()), "a tensor has its bytes", tensor.name);
    claim(reinterpret_cast<uintptr_t>(tensor.array.data) % size_of(tensor.array.dtype) == 0, "an array is aligned",
          tensor.name);
    claim(content.find(tensor.name) == &tensor, "a tensor is found by its name", tensor.name);
    total += tensor.array.bytes();
  }
  claim(total == data.size(), "every byte belongs to a tensor");
  for (const auto& [alias, name] : content.aliases()) {
    claim(content.find(alias) != nullptr && content.find(alias) == content.find(name), "an alias leads to its tensor",
          alias);
  }
}

std::string written(const Safetensors& content) {
  std::vector<NamedArray> tensors;
  for (const Safetensors::Tensor& tensor : content.tensors()) tensors.push_back({tensor.name, tensor.array});
  ToString sink;
  write_safetensors(tensors, content.metadata(), sink);
  claim(sink.text.size() == safetensors_size(tensors, content.metadata()), "the size is known before");
  return std::move(sink.text);
}

bool same(const Safetensors& a, const Safetensors& b) {
  return a.metadata() == b.metadata() &&
         std::ranges::equal(a.tensors(), b.tensors(), [](const auto& one, const auto& other) {
           return one.name == other.name && one.shape == other.shape && one.array.dtype == other.array.dtype &&
                  bytes_in(one.array) == bytes_in(other.array);
         });
}

void check(std::string_view file) {
  const std::optional<Safetensors> content = parse(file);
  if (!content) return;
  check_content(file, *content);
  if (content->find("") != nullptr) return;  // Python may write a tensor without a name; we do not
  const std::string text = written(*content);
  const std::optional<Safetensors> again = parse(text);
  claim(again && same(*content, *again), "what was written is what was read");
  claim(written(*again) == text, "what is written is canonical");
}

}  // namespace
}  // namespace tenon::core

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view file = tenon::fuzz::as_text(data, size);
  tenon::core::check(file);
  // Almost every change makes the length wrong: the same bytes, taken to have a header that ends with their last brace.
  const std::size_t brace = file.rfind('}');
  if (brace == std::string_view::npos || brace < tenon::core::kLengthBytes) return 0;
  std::string mended(file);
  const uint64_t length = brace + 1 - tenon::core::kLengthBytes;
  std::memcpy(mended.data(), &length, tenon::core::kLengthBytes);
  if (mended != file) tenon::core::check(mended);
  return 0;
}
