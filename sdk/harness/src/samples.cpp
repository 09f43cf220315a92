// Stages of the data plane, one sample at a time.
#include <tenon/harness/samples.hpp>

#include <cstring>
#include <utility>

#include <tenon/components/derived.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/components.hpp>

namespace tenon::harness {
namespace {

void copy(const Array& from, const Array& to) {
  if (from.bytes() > 0) std::memcpy(to.data, from.data, from.bytes());
}

void require_kept(const MemorySample& before, const MemorySample& after) {
  for (const FieldSpec& field : before.fields()) {
    const Array a = before.at(field.name);
    const Array b = after.at(field.name);
    if (a.bytes() != 0 && std::memcmp(a.data, b.data, a.bytes()) != 0) {
      throw Error(ErrorCode::kData, "the input field \"" + field.name +
                                        "\" was changed in place: write into memory from allocate() instead");
    }
  }
}

MemorySample with_output(const MemorySample& in, Spec out) { return in.next(in.fields(), std::move(out)); }

}  // namespace

Rng stream_of(const Draw& draw) noexcept {
  return Rng(random_key({draw.seed, static_cast<uint64_t>(draw.epoch), static_cast<uint64_t>(draw.sample)}));
}

MemorySample push(const Transform& transform, const MemorySample& in, const Draw& draw) {
  const Spec out = transform.spec(in.fields());
  MemorySample sample = with_output(in, out);
  Rng random = stream_of(draw);
  transform.apply(sample, random, {draw.epoch, draw.epochs});
  require_kept(in, sample);
  return sample.next(out);
}

void fit(Transform& transform, std::span<const MemorySample> samples) {
  auto* const fitted = ability<Fitted>(transform);
  if (fitted == nullptr) return;
  fitted->begin();
  for (const MemorySample& sample : samples) fitted->observe(sample);
  fitted->finish();
}

void open(Dataset& dataset, std::span<Dataset* const> inputs) {
  if (auto* const derived = ability<Derived>(dataset)) {
    std::vector<Spec> specs;
    for (const Dataset* const input : inputs) specs.push_back(input->spec());
    derived->derive(specs);
  }
  dataset.open(inputs);
}

MemorySample read(const Dataset& dataset, int64_t index) {
  const Spec spec = dataset.spec();
  MemorySample sample(spec);
  dataset.read(index, sample);
  for (const FieldSpec& field : spec) {
    if (!sample.wrote(field.name)) {
      throw Error(ErrorCode::kData,
                  "item " + std::to_string(index) + " lacks the field \"" + field.name + "\" of the dataset's spec");
    }
  }
  return sample.next(spec);
}

MemoryDataset::MemoryDataset(Spec spec, std::vector<MemorySample> items)
    : spec_(std::move(spec)), items_(std::move(items)) {}

void MemoryDataset::open(std::span<Dataset* const> inputs) {
  if (!inputs.empty()) throw Error(ErrorCode::kConfig, "a dataset in memory takes no inputs");
}

void MemoryDataset::read(int64_t index, Sample& out) const {
  if (index < 0 || index >= size()) throw Error(ErrorCode::kData, "there is no item " + std::to_string(index));
  const MemorySample& item = items_[static_cast<std::size_t>(index)];
  for (std::size_t i = 0; i < spec_.size(); ++i) {
    const Array from = item.at(spec_[i].name);
    copy(from, out.allocate(static_cast<int>(i), from.dtype, from.shape));
  }
}

}  // namespace tenon::harness
