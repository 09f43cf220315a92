// Transforms and datasets: what they say that they give, and what they give.
#include <conformance/case.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <conformance/apply.hpp>
#include <conformance/batch_trip.hpp>
#include <conformance/declared_ports.hpp>
#include <conformance/lenient_sample.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/samples.hpp>

namespace tenon::conformance {
namespace {

constexpr const char* kAgree = "let ports(), spec() and what is allocated say the same names, types and shapes";

/// Samples that a transform which learns has seen.
constexpr int64_t kLearned = 4;

harness::Made<Transform> fitted(const Subject& subject, const Trial& trial) {
  auto transform = harness::Registry::as<Transform>(subject.make(trial.params));
  std::vector<harness::MemorySample> samples;
  for (int64_t i = 0; i < kLearned; ++i) samples.push_back(draw_sample(trial.inputs, trial.seed, i));
  (void)transform->spec(samples.front().fields());
  harness::fit(*transform, samples);
  return transform;
}

/// The transform where it works on batches, else null.
const BatchTransform* batched(Transform& transform) { return harness::ability<BatchTransform>(transform); }

void batch_outputs(Bench& bench, const Trial& trial, const BatchTransform& transform) {
  for (int64_t i = 0; i < kLearned; ++i) {
    bench.doing(fmt::format("apply_batch() on batch {} with {}", i, to_string(trial.inputs)));
    const BatchTrip trip = push_batch(transform, trial, i);
    std::string what = contradiction(bench.subject(), trial.params, trip.in, trip.promised, true);
    if (what.empty()) what = contradiction(trip);
    if (!what.empty()) return bench.fail(what, kAgree, trial.params);
  }
}

void transform_outputs(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    if (const auto made = harness::Registry::as<Transform>(bench.subject().make(trial.params)); batched(*made)) {
      batch_outputs(bench, trial, *batched(*made));
      continue;
    }
    const auto transform = fitted(bench.subject(), trial);
    for (int64_t i = 0; i < kLearned; ++i) {
      const harness::MemorySample sample = draw_sample(trial.inputs, trial.seed, i);
      const Spec in = sample.fields();
      const Spec out = transform->spec(in);
      if (const std::string what = contradiction(bench.subject(), trial.params, in, out, false); !what.empty()) {
        return bench.fail(what, kAgree, trial.params);
      }
      LenientSample lenient(sample, out);
      Rng random = harness::stream_of({trial.seed, i});
      bench.doing(fmt::format("apply() on sample {} with {}", i, to_string(trial.inputs)));
      apply(*transform, lenient, trial, i, random, {});
      const harness::MemorySample& written = lenient.sample();
      for (const FieldSpec& field : out) {
        const FieldSpec* const before = find(in, field.name);
        if (!written.wrote(field.name) && before == nullptr) {
          return bench.fail(fmt::format("spec() names the field \"{}\", and apply() does not write it", field.name),
                            kAgree, trial.params);
        }
        const Array array = written.wrote(field.name) ? written.written_array(field.name) : written.at(field.name);
        bool fits = array.dtype == field.dtype && array.shape.size() == field.shape.size();
        for (std::size_t axis = 0; fits && axis < field.shape.size(); ++axis) {
          fits = !field.shape[axis].fixed() || field.shape[axis].size == array.shape[axis];
        }
        if (fits) continue;
        const std::vector<Dim> shape(array.shape.begin(), array.shape.end());
        return bench.fail(fmt::format("\"{}\" is {} by spec(), and apply() writes {}{}", field.name, to_string(field),
                                      name_of(array.dtype), to_string(shape)),
                          kAgree, trial.params);
      }
    }
  }
}

constexpr Case kOutputs{"transform.outputs", "What it writes agrees with spec(), and that with its port rules.",
                        "transform", &transform_outputs};
TENON_CASE(kOutputs);

void batch_input(Bench& bench, const Trial& trial, const BatchTransform& transform) {
  for (int64_t i = 0; i < kLearned; ++i) {
    bench.doing(fmt::format("apply_batch() on batch {}", i));
    const std::string field = changed_field(push_batch(transform, trial, i));
    if (field.empty()) continue;
    return bench.fail(fmt::format("it changes \"{}\" of the batch that it was given in place", field),
                      "make a tensor of its own and set() that: others may hold the old one", trial.params);
  }
}

void transform_input(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    if (const auto made = harness::Registry::as<Transform>(bench.subject().make(trial.params)); batched(*made)) {
      batch_input(bench, trial, *batched(*made));
      continue;
    }
    const auto transform = fitted(bench.subject(), trial);
    for (int64_t i = 0; i < kLearned; ++i) {
      const harness::MemorySample before = draw_sample(trial.inputs, trial.seed, i);
      LenientSample after(before, transform->spec(before.fields()));
      Rng random = harness::stream_of({trial.seed, i});
      bench.doing(fmt::format("apply() on sample {}", i));
      apply(*transform, after, trial, i, random, {});
      Seen then;
      Seen now;
      for (const FieldSpec& field : before.fields()) {
        then.add(fmt::format("input {}", field.name), before.at(field.name));
        now.add(fmt::format("input {}", field.name), after.sample().at(field.name));
      }
      const std::string what = then.difference(now);
      if (what.empty()) continue;
      return bench.fail("it changes its input in place: " + what,
                        "write into memory from allocate(): other stages read the same input", trial.params);
    }
  }
}

constexpr Case kInput{"transform.input", "Its input is as it was afterwards.", "transform", &transform_input};
TENON_CASE(kInput);

void transform_types(Bench& bench) {
  for (const Json& port : bench.subject().manifest["ports"]["in"]) {
    if (!port.contains("dtype") || !port.contains("name")) continue;
    for (const Json& name : port["dtype"]) {
      const Dtype dtype = dtype_of(name.get<std::string>()).value_or(Dtype::kFloat32);
      if (dtype == Dtype::kFloat16 || dtype == Dtype::kBfloat16) continue;
      Trial trial = bench.trial();
      const std::vector<std::string> names = names_of(port, trial.params);
      for (ExampleInput& input : trial.inputs) {
        if (std::find(names.begin(), names.end(), input.field.name) == names.end()) continue;
        input.field.dtype = dtype;
        if (dtype == Dtype::kBool) input.high = std::min(input.high, 2.0);
      }
      bench.doing(fmt::format("use with inputs of type {}", name_of(dtype)));
      try {
        const auto use = use_of(bench.subject(), trial);
        use->prepare();
        Seen seen;
        use->go(0, 4, seen);
      } catch (const Error& error) {
        return bench.fail(fmt::format("ports() lists {}, but it is refused: {}", name_of(dtype), error.what()),
                          "list only the types that spec() and apply() take", trial.params);
      }
    }
  }
}

constexpr Case kTypes{"transform.types", "It takes each type that its port rules list.", "transform", &transform_types};
TENON_CASE(kTypes);

void transform_nonfinite(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto transform = fitted(bench.subject(), trial);
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), 1e30}) {
    harness::MemorySample sample = draw_sample(trial.inputs, trial.seed, 0);
    bool any = false;
    for (const FieldSpec& field : sample.fields()) {
      const Array array = sample.at(field.name);
      if (field.dtype == Dtype::kFloat32) array.as<float>()[0] = static_cast<float>(value);
      if (field.dtype == Dtype::kFloat64) array.as<double>()[0] = value;
      any = any || field.dtype == Dtype::kFloat32 || field.dtype == Dtype::kFloat64;
    }
    if (!any) throw Skip{"it takes no floating field"};
    bench.doing(fmt::format("apply() on a sample that holds {}", value));
    try {
      LenientSample written(sample, transform->spec(sample.fields()));
      Rng random = harness::stream_of({trial.seed});
      apply(*transform, written, trial, 0, random, {});
    } catch (const Error&) {
      continue;
    }
  }
}

constexpr Case kNonfinite{"transform.nonfinite",
                          "Values that are not finite are handed on or refused, and never crash it.", "transform",
                          &transform_nonfinite};
TENON_CASE(kNonfinite);

void dataset_items(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto use = use_of(bench.subject(), trial);
  use->prepare();
  const auto& dataset = static_cast<const Dataset&>(use->component());
  const Spec spec = dataset.spec();
  if (const std::string what = contradiction(
          bench.subject(), trial.params,
          {{"x", Dtype::kFloat32, {4}}, {"label", Dtype::kInt64, {}}, {"group", Dtype::kInt64, {}}}, spec, false);
      !what.empty()) {
    return bench.fail(what, kAgree, trial.params);
  }
  for (const int64_t index : {int64_t{0}, dataset.size() / 2, dataset.size() - 1}) {
    bench.doing(fmt::format("read() of item {}", index));
    try {
      (void)harness::read(dataset, index);
    } catch (const Error& error) {
      return bench.fail(fmt::format("item {} of {}: {}", index, dataset.size(), error.what()), kAgree, trial.params);
    }
  }
}

constexpr Case kItems{"dataset.items", "Every item has the fields of spec(), and that agrees with the port rules.",
                      "dataset", &dataset_items};
TENON_CASE(kItems);

void dataset_early_spec(Bench& bench) {
  if (bench.subject().has("abilities", "tenon.derived/1")) throw Skip{"it learns its fields from its inputs"};
  const auto made = harness::Registry::as<Dataset>(bench.subject().make(bench.params()));
  Seen before;
  bench.doing("spec() before open()");
  before.add("spec", made->spec());
  const auto use = use_of(bench.subject(), bench.trial());
  use->prepare();
  Seen after;
  after.add("spec", static_cast<Dataset&>(use->component()).spec());
  const std::string what = before.difference(after);
  if (!what.empty())
    bench.fail("open() changes what spec() says: " + what, "let spec() follow from the parameters alone",
               bench.params());
}

constexpr Case kEarlySpec{"dataset.spec", "spec() is known before open(), and stays the same.", "dataset",
                          &dataset_early_spec};
TENON_CASE(kEarlySpec);

void dataset_fingerprint(Bench& bench) {
  const auto use = use_of(bench.subject(), bench.trial());
  use->prepare();
  const std::string text = static_cast<Dataset&>(use->component()).fingerprint();
  if (text.empty()) bench.fail("the fingerprint is empty", "give a hash of the data", bench.params());
  if (text.find(bench.subject().scratch.string()) != std::string::npos) {
    bench.fail("the fingerprint holds the path of the data: " + text,
               "give a hash of the data alone: checkpoints are equal wherever it lies", bench.params());
  }
}

constexpr Case kFingerprint{"dataset.fingerprint", "The fingerprint is there and does not tell where the data lies.",
                            "dataset", &dataset_fingerprint};
TENON_CASE(kFingerprint);

}  // namespace
}  // namespace tenon::conformance
