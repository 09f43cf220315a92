// What datasets and transforms can do beyond their interface: nothing but time may depend on it.
#include <conformance/case.hpp>

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>

#include <conformance/apply.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/multi_sample.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/samples.hpp>

namespace tenon::conformance {
namespace {

constexpr int64_t kMostItems = 50;
constexpr int64_t kRegions = 8;  // of each item
constexpr int64_t kDraws = 12;

/// A dataset with the ability, open over what it needs.
template <class Ability>
class OpenDataset {
 public:
  OpenDataset(Bench& bench, const char* name) : use_(use_of(bench.subject(), bench.trial())) {
    use_->prepare();
    ability_ = harness::ability<Ability>(dataset());
    if (ability_ == nullptr) throw Skip{fmt::format("it has no ability {}", name)};
  }

  [[nodiscard]] Dataset& dataset() const { return static_cast<Dataset&>(use_->component()); }
  [[nodiscard]] const Ability& ability() const noexcept { return *ability_; }

  /// Some of its items, the first and the last one among them.
  [[nodiscard]] std::vector<int64_t> items() const {
    const int64_t size = dataset().size();
    const int64_t step = std::max<int64_t>(1, size / kMostItems);
    std::vector<int64_t> items;
    for (int64_t i = 0; i < size; i += step) items.push_back(i);
    if (size > 0 && items.back() != size - 1) items.push_back(size - 1);
    return items;
  }

 private:
  std::unique_ptr<Use> use_;
  const Ability* ability_ = nullptr;
};

Seen seen_of(const harness::MemorySample& sample, int64_t item) {
  Seen seen;
  for (const FieldSpec& field : sample.fields()) {
    seen.add(fmt::format("field {} of item {}", field.name, item), sample.at(field.name));
  }
  return seen;
}

void in_memory(Bench& bench) {
  const OpenDataset<InMemory> open(bench, "InMemory");
  if (!open.ability().can_view()) throw Skip{"with these parameters its items cannot be viewed"};
  for (const int64_t item : open.items()) {
    bench.doing(fmt::format("view() of item {}", item));
    const Seen read = seen_of(harness::read(open.dataset(), item), item);
    std::string what;
    try {
      what = read.difference(seen_of(harness::view(open.dataset(), item), item));
    } catch (const Error& error) {
      what = error.what();
    }
    if (what.empty()) continue;
    return bench.fail(fmt::format("what lies in memory is not what read() gives: {}", what),
                      "let view() point at contiguous memory that holds what read() gives, or can_view() be false",
                      bench.params());
  }
}

constexpr Case kInMemory{"dataset.in-memory", "Items viewed in memory have the bytes that read() gives.", "dataset",
                         &in_memory};
TENON_CASE(kInMemory);

Region drawn_region(const Extent& whole, Rng& random) {
  const int64_t height = random.integer(1, whole.height);
  const int64_t width = random.integer(1, whole.width);
  return {random.integer(0, whole.height - height), random.integer(0, whole.width - width), height, width};
}

/// Why region `number` of an item is not what the whole has there; empty when it is.
std::string wrong_part(Dataset& dataset, int64_t item, int64_t number, const std::string& field,
                       const harness::MemorySample& whole) {
  Rng random = harness::stream_of({.seed = 1, .sample = item, .epoch = number});
  try {
    const harness::PartOfItem part = harness::read_part(dataset, item, [&](const Extent& extent) {
      return number == 0 ? Region{0, 0, extent.height, extent.width} : drawn_region(extent, random);
    });
    const std::span<const int64_t> shape = whole.at(field).shape;
    if (part.whole != Extent{shape[0], shape[1]}) {
      return fmt::format("it says that item {} is of {} times {}, and reads {} times {}", item, part.whole.height,
                         part.whole.width, shape[0], shape[1]);
    }
    const Region& region = part.region;
    const std::string what = seen_of(harness::cut(whole, field, region), item).difference(seen_of(part.sample, item));
    return what.empty() ? what
                        : fmt::format("{} times {} at ({}, {}) of {}: {}", region.height, region.width, region.top,
                                      region.left, field, what);
  } catch (const Error& error) {
    return fmt::format("item {}: {}", item, error.what());
  }
}

void partial_read(Bench& bench) {
  const OpenDataset<PartialRead> open(bench, "PartialRead");
  const std::string field(open.ability().partial_field());
  const Spec spec = open.dataset().spec();
  if (field.empty()) throw Skip{"with these parameters it reads no field in part"};
  const FieldSpec* const known = find(spec, field);
  if (known == nullptr || known->shape.size() < 2) {
    return bench.fail(fmt::format("partial_field() is \"{}\", which is no image by its spec", field),
                      "name a field of spec() of the shape [H, W] or [H, W, C]", bench.params());
  }
  for (const int64_t item : open.items()) {
    const harness::MemorySample whole = harness::read(open.dataset(), item);
    for (int64_t number = 0; number < kRegions; ++number) {
      bench.doing(fmt::format("read_part() of item {}", item));
      const std::string what = wrong_part(open.dataset(), item, number, field, whole);
      if (what.empty()) continue;
      return bench.fail(fmt::format("a part is not what the whole has there: {}", what),
                        "give the region that `choose` returns, asked once, with the pixels of the whole image",
                        bench.params());
    }
  }
}

constexpr Case kPartialRead{"dataset.partial-read", "A region that is read alone has the pixels of the whole image.",
                            "dataset", &partial_read};
TENON_CASE(kPartialRead);

double number_in(const Array& array) {
  switch (array.dtype) {
    case Dtype::kBool: return array.as<bool>()[0] ? 1 : 0;
    case Dtype::kUint8: return array.as<uint8_t>()[0];
    case Dtype::kInt8: return array.as<int8_t>()[0];
    case Dtype::kInt16: return array.as<int16_t>()[0];
    case Dtype::kInt32: return array.as<int32_t>()[0];
    case Dtype::kInt64: return static_cast<double>(array.as<int64_t>()[0]);
    case Dtype::kFloat32: return static_cast<double>(array.as<float>()[0]);
    case Dtype::kFloat64: return array.as<double>()[0];
    default: throw Skip{"it has scalars of a type that is not compared"};
  }
}

bool same_number(double a, double b) { return a == b || (a != a && b != b); }

/// Why what it tells of a field of all items is wrong for one of them; empty when it is not.
std::string wrong_column(const OpenDataset<Columns>& open, const FieldSpec& field) {
  const auto values = open.ability().column(field.name);
  const auto lengths = open.ability().lengths(field.name);
  const auto size = static_cast<std::size_t>(open.dataset().size());
  if (values && !field.shape.empty()) return fmt::format("it has a column of \"{}\", which is no scalar", field.name);
  if (lengths && field.shape.empty()) return fmt::format("it has lengths of \"{}\", which is a scalar", field.name);
  if ((values && values->size() != size) || (lengths && lengths->size() != size)) {
    return fmt::format("it tells \"{}\" of {} items, and there are {}", field.name,
                       values ? values->size() : lengths->size(), size);
  }
  if (!values && !lengths) return {};
  for (const int64_t item : open.items()) {
    const harness::MemorySample sample = harness::read(open.dataset(), item);
    const Array array = sample.at(field.name);
    const auto at = static_cast<std::size_t>(item);
    if (values && !same_number((*values)[at], number_in(array))) {
      return fmt::format("column \"{}\" has {} for item {}, and read() gives {}", field.name, (*values)[at], item,
                         number_in(array));
    }
    if (lengths && (*lengths)[at] != array.shape.front()) {
      return fmt::format("\"{}\" of item {} is of length {} in lengths(), and of {} in read()", field.name, item,
                         (*lengths)[at], array.shape.front());
    }
  }
  return {};
}

void columns(Bench& bench) {
  const OpenDataset<Columns> open(bench, "Columns");
  for (const FieldSpec& field : open.dataset().spec()) {
    bench.doing(fmt::format("column() and lengths() of {}", field.name));
    const std::string what = wrong_column(open, field);
    if (what.empty()) continue;
    return bench.fail(what, "give what read() gives, for every item in order, or nothing", bench.params());
  }
  bench.doing("column() of a field that is not there");
  if (open.ability().column("no_such_field") || open.ability().lengths("no_such_field")) {
    bench.fail("it has a column or lengths of a field that is not in its spec", "give nothing for unknown fields",
               bench.params());
  }
}

constexpr Case kColumns{"dataset.columns", "Columns and lengths are those of the items.", "dataset", &columns};
TENON_CASE(kColumns);

void item_names(Bench& bench) {
  const OpenDataset<ItemNames> open(bench, "ItemNames");
  const std::vector<int64_t> items = open.items();
  std::vector<std::string> names;
  for (const int64_t item : items) {
    bench.doing(fmt::format("item_name() of item {}", item));
    names.push_back(open.ability().item_name(item));
  }
  bench.doing("item_name() while another thread is in read()");
  const std::jthread reading([&] {
    try {
      for (const int64_t item : items) (void)harness::read(open.dataset(), item);
    } catch (const std::exception&) {
      // That items are read is for other cases to say.
    }
  });
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string again = open.ability().item_name(items[i]);
    if (again == names[i]) continue;
    return bench.fail(fmt::format("item {} is called \"{}\", and then \"{}\"", items[i], names[i], again),
                      "let item_name() follow from the index and what open() found, whatever is read meanwhile",
                      bench.params());
  }
}

constexpr Case kItemNames{"dataset.item-names", "Items have names that stay the same, also while items are read.",
                          "dataset", &item_names};
TENON_CASE(kItemNames);

harness::Made<Transform> learned(const Subject& subject, const Trial& trial) {
  auto transform = harness::Registry::as<Transform>(subject.make(trial.params));
  std::vector<harness::MemorySample> samples;
  for (int64_t i = 0; i < 4; ++i) samples.push_back(draw_sample(trial.inputs, trial.seed, i));
  (void)transform->spec(samples.front().fields());
  harness::fit(*transform, samples);
  return transform;
}

void cutting(Bench& bench) {
  bool any = false;
  for (const Trial& trial : bench.trials()) {
    const auto transform = learned(bench.subject(), trial);
    const auto* const ability = harness::ability<Cutting>(*transform);
    if (ability == nullptr) throw Skip{"it has no ability Cutting"};
    if (ability->cut_field().empty()) continue;
    any = true;
    for (int64_t i = 0; i < kDraws; ++i) {
      const harness::MemorySample sample = draw_sample(trial.inputs, trial.seed, i % 4);
      const harness::Draw draw{.seed = trial.seed, .sample = i, .epoch = i / 4, .epochs = 3};
      bench.doing(fmt::format("choose() and apply_cut() for sample {}", i));
      const Seen whole = seen_of(harness::push(*transform, sample, draw), i);
      std::string what;
      try {
        what = whole.difference(seen_of(harness::push_cut(*transform, sample, draw), i));
      } catch (const Error& error) {
        what = error.what();
      }
      if (what.empty()) continue;
      return bench.fail(fmt::format("from its region alone it makes another sample than apply(): {}", what),
                        "let apply() be choose() and then what apply_cut() does, with the same draws in the same order",
                        trial.params);
    }
  }
  if (!any) throw Skip{"with these parameters it has no use for regions"};
}

constexpr Case kCutting{"transform.cutting", "From the region that it chooses it makes what it makes of the whole.",
                        "transform", &cutting};
TENON_CASE(kCutting);

void multi_sample(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    const auto transform = learned(bench.subject(), trial);
    const auto* const ability = harness::ability<MultiSample>(*transform);
    if (ability == nullptr) throw Skip{"it has no ability MultiSample"};
    const int64_t count = ability->others();
    for (int64_t i = 0; i < kDraws; ++i) {
      const harness::MemorySample sample = draw_sample(trial.inputs, trial.seed, i % 4);
      const std::vector<harness::MemorySample> others = others_for(*transform, trial, i);
      const harness::Draw draw{.seed = trial.seed, .sample = i, .epoch = i / 4, .epochs = 3};
      bench.doing(fmt::format("apply_with() on sample {} and {} others", i, count));
      std::string what;
      try {
        const Seen first = seen_of(harness::push_with(*transform, sample, others, draw), i);
        what = first.difference(seen_of(harness::push_with(*transform, sample, others, draw), i));
        if (!what.empty()) what = "the same samples give another result the second time: " + what;
      } catch (const Error& error) {
        what = error.what();
      }
      if (what.empty() && ability->others() != count) what = "others() changes while it is used";
      if (what.empty()) continue;
      return bench.fail(what, "read further samples alone, and let the result depend on nothing but them and the draws",
                        trial.params);
    }
  }
}

constexpr Case kMultiSample{"transform.multi-sample",
                            "Further samples are as they were afterwards, and the same ones give the same result.",
                            "transform", &multi_sample};
TENON_CASE(kMultiSample);

}  // namespace
}  // namespace tenon::conformance
