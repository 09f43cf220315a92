// Stages of the data plane, one sample at a time.
#include <tenon/harness/samples.hpp>

#include <cstring>
#include <utility>

#include <tenon/components/derived.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/multi_sample.hpp>
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

template <class Ability>
Ability& require(Component& component, const char* name) {
  auto* const found = ability<Ability>(component);
  if (found == nullptr) throw Error(ErrorCode::kData, std::string("it has no ability ") + name);
  return *found;
}

void require_all(const Spec& spec, const MemorySample& sample, int64_t index) {
  for (const FieldSpec& field : spec) {
    if (sample.wrote(field.name)) continue;
    throw Error(ErrorCode::kData,
                "item " + std::to_string(index) + " lacks the field \"" + field.name + "\" of the dataset's spec");
  }
}

std::string spelled(const Region& region) {
  return std::to_string(region.height) + " times " + std::to_string(region.width) + " at (" +
         std::to_string(region.top) + ", " + std::to_string(region.left) + ")";
}

void require_within(const Region& region, const Extent& whole) {
  const bool holds = region.top >= 0 && region.left >= 0 && region.height >= 1 && region.width >= 1 &&
                     region.height <= whole.height && region.width <= whole.width &&
                     region.top <= whole.height - region.height && region.left <= whole.width - region.width;
  if (holds) return;
  throw Error(ErrorCode::kData, "the region, " + spelled(region) + ", is out of the image of " +
                                    std::to_string(whole.height) + " times " + std::to_string(whole.width));
}

/// The spec of an item whose field is read in part: that field's first two axes are the region's.
Spec in_part(Spec spec, std::string_view field) {
  FieldSpec& cut = spec[static_cast<std::size_t>(index_of(spec, field))];
  if (cut.shape.size() < 2) throw Error(ErrorCode::kData, "the field \"" + cut.name + "\" is no image by its spec");
  cut.shape[0] = cut.shape[1] = Dim();
  return spec;
}

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
  require_all(spec, sample, index);
  return sample.next(spec);
}

MemorySample view(Dataset& dataset, int64_t index) {
  const auto& in_memory = require<InMemory>(dataset, "InMemory");
  if (!in_memory.can_view()) throw Error(ErrorCode::kData, "its items cannot be viewed: can_view() is false");
  const Spec spec = dataset.spec();
  std::vector<Shape> shapes;
  for (const FieldSpec& field : spec) {
    Shape& shape = shapes.emplace_back();
    for (const Dim& dim : field.shape) {
      if (!dim.fixed()) throw Error(ErrorCode::kData, "an axis of the field \"" + field.name + "\" is free");
      shape.push_back(dim.size);
    }
  }
  std::vector<const std::byte*> places(spec.size(), nullptr);
  in_memory.view(index, places);
  MemorySample sample;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    const Array to = sample.add(spec[i].name, spec[i].dtype, shapes[i]);
    if (to.bytes() == 0) continue;
    if (places[i] == nullptr) throw Error(ErrorCode::kData, "the field \"" + spec[i].name + "\" has no place");
    std::memcpy(to.data, places[i], to.bytes());
  }
  return sample;
}

PartOfItem read_part(Dataset& dataset, int64_t index, const std::function<Region(const Extent&)>& choose) {
  const auto& reader = require<PartialRead>(dataset, "PartialRead");
  const std::string field(reader.partial_field());
  const Spec spec = in_part(dataset.spec(), field);
  MemorySample sample(spec);
  PartOfItem part;
  int asked = 0;
  const auto ask = [&](const Extent& whole) {
    ++asked;
    part.whole = whole;
    part.region = choose(whole);
    require_within(part.region, whole);
    return part.region;
  };
  reader.read_part(index, ask, sample);
  if (asked != 1) throw Error(ErrorCode::kData, "read_part() asks " + std::to_string(asked) + " times for the region");
  require_all(spec, sample, index);
  const Shape shape = sample.written_shape(field);
  if (shape[0] != part.region.height || shape[1] != part.region.width) {
    throw Error(ErrorCode::kData, "the field \"" + field + "\" is of " + std::to_string(shape[0]) + " times " +
                                      std::to_string(shape[1]) + ", not of the region, " + spelled(part.region));
  }
  part.sample = sample.next(spec);
  return part;
}

MemorySample cut(const MemorySample& sample, std::string_view field, const Region& region) {
  MemorySample out;
  for (const FieldSpec& each : sample.fields()) {
    const Array from = sample.at(each.name);
    if (each.name != field) {
      copy(from, out.add(each.name, from.dtype, {from.shape.begin(), from.shape.end()}));
      continue;
    }
    if (from.shape.size() < 2) throw Error(ErrorCode::kData, "the field \"" + each.name + "\" is no image");
    require_within(region, {from.shape[0], from.shape[1]});
    Shape shape(from.shape.begin(), from.shape.end());
    shape[0] = region.height;
    shape[1] = region.width;
    const Array to = out.add(each.name, from.dtype, shape);
    const std::size_t pixel = static_cast<std::size_t>(elements(from.shape.subspan(2))) * size_of(from.dtype);
    const auto at = [&](int64_t row) { return static_cast<std::size_t>(row * from.shape[1] + region.left) * pixel; };
    const std::size_t row_bytes = static_cast<std::size_t>(region.width) * pixel;
    for (int64_t row = 0; row < region.height && row_bytes > 0; ++row) {
      std::memcpy(static_cast<std::byte*>(to.data) + static_cast<std::size_t>(row) * row_bytes,
                  static_cast<const std::byte*>(from.data) + at(region.top + row), row_bytes);
    }
  }
  return out;
}

MemorySample push_cut(Transform& transform, const MemorySample& in, const Draw& draw) {
  const auto& cutting = require<Cutting>(transform, "Cutting");
  const std::string field(cutting.cut_field());
  const Spec out = transform.spec(in.fields());
  const Array image = in.at(field);
  if (image.shape.size() < 2) throw Error(ErrorCode::kData, "the field \"" + field + "\" is no image");
  const Extent whole{image.shape[0], image.shape[1]};
  const When when{draw.epoch, draw.epochs};
  Rng random = stream_of(draw);
  const Region region = cutting.choose(whole, random, when);
  const MemorySample part = cut(in, field, region);
  MemorySample sample = with_output(part, out);
  cutting.apply_cut(sample, whole, region, random, when);
  require_kept(part, sample);
  return sample.next(out);
}

MemorySample push_with(Transform& transform, const MemorySample& in, std::span<const MemorySample> others,
                       const Draw& draw) {
  const auto& multi = require<MultiSample>(transform, "MultiSample");
  if (multi.others() != static_cast<int64_t>(others.size())) {
    throw Error(ErrorCode::kData, "it needs " + std::to_string(multi.others()) + " further samples, and there are " +
                                      std::to_string(others.size()));
  }
  const Spec out = transform.spec(in.fields());
  MemorySample sample = with_output(in, out);
  const std::vector<MemorySample> copies(others.begin(), others.end());
  std::vector<const Sample*> given;
  given.reserve(copies.size());
  for (const MemorySample& other : copies) given.push_back(&other);
  Rng random = stream_of(draw);
  multi.apply_with(sample, given, random, {draw.epoch, draw.epochs});
  require_kept(in, sample);
  for (std::size_t i = 0; i < copies.size(); ++i) require_kept(others[i], copies[i]);
  return sample.next(out);
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
