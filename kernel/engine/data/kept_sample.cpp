// Memory that is kept from sample to sample.
#include <engine/data/kept_sample.hpp>

#include <algorithm>
#include <cstring>

namespace tenon::engine {

void* KeptSample::place(int field, std::span<const int64_t> shape) {
  const auto at = static_cast<std::size_t>(field);
  const std::size_t bytes = static_cast<std::size_t>(elements(shape)) * size_of(fields_[at].dtype);
  memory_[at].resize(std::max<std::size_t>(bytes, 1));
  values_[at].data = memory_[at].data();
  values_[at].keep(shape);
  values_[at].set = true;
  return memory_[at].data();
}

void KeptDataset::read(int64_t /*index*/, Sample& out) const {
  const Spec& fields = sample_.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Value& value = sample_.values()[i];
    const Array to = out.allocate(static_cast<int>(i), fields[i].dtype, value.shape);
    if (to.bytes() > 0) std::memcpy(to.data, value.data, to.bytes());
  }
}

}  // namespace tenon::engine
