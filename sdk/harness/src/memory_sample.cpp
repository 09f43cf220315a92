// Fields in memory, and what a stage may ask of them.
#include <tenon/harness/memory_sample.hpp>

#include <cstring>

#include <tenon/error.hpp>

namespace tenon::harness {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

bool fits(const FieldSpec& field, Dtype dtype, std::span<const int64_t> shape) {
  return field.dtype == dtype &&
         std::equal(field.shape.begin(), field.shape.end(), shape.begin(), shape.end(),
                    [](const Dim& dim, int64_t size) { return !dim.fixed() || dim.size == size; });
}

std::string spelled(Dtype dtype, std::span<const int64_t> shape) {
  FieldSpec field{"", dtype, {}};
  for (const int64_t size : shape) field.shape.emplace_back(size);
  return to_string(field);
}

}  // namespace

Array MemorySample::store(Value& value, Dtype dtype, Shape shape) {
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.bytes.assign(static_cast<std::size_t>(elements(value.shape)) * size_of(dtype), std::byte{0xAB});
  return view(value);
}

Array MemorySample::add(const std::string& name, Dtype dtype, const Shape& shape) {
  if (!in_.contains(name)) order_.push_back(name);
  return store(in_[name], dtype, shape);
}

Array MemorySample::written_array(const std::string& name) const {
  const auto found = written_.find(name);
  if (found == written_.end()) throw Error(ErrorCode::kData, "the field \"" + name + "\" was not written");
  return view(found->second);
}

Shape MemorySample::written_shape(const std::string& name) const {
  const Array array = written_array(name);
  return {array.shape.begin(), array.shape.end()};
}

Spec MemorySample::fields() const {
  Spec spec;
  for (const std::string& name : order_) {
    const Value& value = in_.at(name);
    spec.push_back({name, value.dtype, {value.shape.begin(), value.shape.end()}});
  }
  return spec;
}

MemorySample MemorySample::next(const Spec& out, Spec next_out) const {
  MemorySample sample(std::move(next_out));
  for (const FieldSpec& field : out) {
    const Array from = wrote(field.name) ? written_array(field.name) : at(field.name);
    const Array to = sample.add(field.name, from.dtype, {from.shape.begin(), from.shape.end()});
    if (from.bytes() > 0) std::memcpy(to.data, from.data, from.bytes());
  }
  return sample;
}

Array MemorySample::at(int field) const {
  if (field < 0 || static_cast<std::size_t>(field) >= order_.size()) {
    throw Error(ErrorCode::kData, "there is no field " + std::to_string(field) + "; there are: " + listed(order_));
  }
  return at(order_[static_cast<std::size_t>(field)]);
}

Array MemorySample::at(std::string_view name) const {
  const auto found = in_.find(name);
  if (found == in_.end()) {
    throw Error(ErrorCode::kData, "there is no field \"" + std::string(name) + "\"; there are: " + listed(order_));
  }
  return view(found->second);
}

Array MemorySample::allocate(int field, Dtype dtype, std::span<const int64_t> shape) {
  if (field < 0 || static_cast<std::size_t>(field) >= out_.size()) {
    throw Error(ErrorCode::kData, "the output has no field " + std::to_string(field));
  }
  return allocate(out_[static_cast<std::size_t>(field)].name, dtype, shape);
}

Array MemorySample::allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) {
  if (!out_.empty()) {
    const FieldSpec* const field = find(out_, name);
    if (field == nullptr) throw Error(ErrorCode::kData, "the output has no field \"" + std::string(name) + "\"");
    if (!fits(*field, dtype, shape)) {
      throw Error(ErrorCode::kData, "the field \"" + std::string(name) + "\" is " + to_string(*field) +
                                        " by its spec, but is written as " + spelled(dtype, shape));
    }
  }
  return store(written_[std::string(name)], dtype, {shape.begin(), shape.end()});
}

}  // namespace tenon::harness
