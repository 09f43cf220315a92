// Comparing what was seen.
#include <conformance/seen.hpp>

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <tenon/tensors.hpp>

namespace tenon::conformance {
namespace {

bool is_text(const std::string& bytes) {
  return bytes.size() < 300 && std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

void Seen::add(std::string label, double number) { add(std::move(label), fmt::format("{:a} ({})", number, number)); }

void Seen::add(std::string label, const Array& array) {
  std::vector<Dim> shape(array.shape.begin(), array.shape.end());
  std::string bytes = fmt::format("{}{}:", name_of(array.dtype), to_string(shape));
  if (array.bytes() > 0) bytes.append(static_cast<const char*>(array.data), array.bytes());
  add(std::move(label), bytes);
}

void Seen::add(std::string label, const at::Tensor& tensor) {
  if (!tensor.defined()) return add(std::move(label), "undefined");
  const at::Tensor plain = tensor.detach().contiguous();
  const std::vector<int64_t> shape = plain.sizes().vec();
  add(std::move(label), Array{plain.data_ptr(), dtype_of(plain.scalar_type()), shape});
}

void Seen::add(const std::string& label, const Spec& spec) {
  std::string text;
  for (const FieldSpec& field : spec) text += fmt::format("{} {}; ", field.name, to_string(field));
  add(label, text);
}

std::string Seen::difference(const Seen& other) const {
  for (std::size_t i = 0; i < std::min(size(), other.size()); ++i) {
    const auto& [label, mine] = items_[i];
    const auto& [other_label, theirs] = other.items_[i];
    if (label != other_label) return fmt::format("{} came where {} was expected", other_label, label);
    if (mine == theirs) continue;
    if (is_text(mine) && is_text(theirs)) return fmt::format("{}: first {}, then {}", label, mine, theirs);
    const auto at = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end()).first - mine.begin();
    return fmt::format("{} differs, from byte {} on", label, at);
  }
  if (size() == other.size()) return {};
  return fmt::format("{} things were seen, then {}", size(), other.size());
}

}  // namespace tenon::conformance
