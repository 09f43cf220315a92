// Metrics: batches, ranks, nothing at all.
#include <conformance/case.hpp>

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tenon/error.hpp>
#include <tenon/harness/ranks.hpp>

namespace tenon::conformance {
namespace {

harness::Made<Metric> made(const Subject& subject, const Trial& trial) {
  return harness::Registry::as<Metric>(subject.make(trial.params));
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
    if (!both_nan && !(std::abs(a[i] - b[i]) <= 1e-9 * std::max(1.0, std::abs(a[i])))) return false;
  }
  return true;
}

std::vector<Tensors> cut(const Tensors& whole, const std::vector<int64_t>& sizes) {
  std::vector<Tensors> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    Tensors part;
    for (const auto& [name, tensor] : whole)
      part.set(name, tensor.dim() == 0 ? tensor : tensor.slice(0, begin, begin + size));
    parts.push_back(std::move(part));
    begin += size;
  }
  return parts;
}

void batches(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    const auto metric = made(bench.subject(), trial);
    const Tensors whole = draw_batch(trial.inputs, trial.seed, 0, 12);
    const std::vector<double> at_once = harness::values_of(*metric, {whole});
    const std::vector<double> in_parts = harness::values_of(*metric, cut(whole, {1, 5, 6}));
    const std::size_t declared = bench.subject().manifest.value("metrics", Json::array()).size();
    if (at_once.size() != declared) {
      return bench.fail(fmt::format("compute() gives {} values, outputs() names {}", at_once.size(), declared),
                        "give one value for each of outputs()", trial.params);
    }
    if (same(at_once, in_parts)) continue;
    return bench.fail(fmt::format("12 samples at once give {}, in batches of 1, 5 and 6 {}", fmt::join(at_once, ", "),
                                  fmt::join(in_parts, ", ")),
                      "accumulate sums and counts over samples, not means of batches", trial.params);
  }
}

constexpr Case kBatches{"metric.batches", "Its values do not depend on how samples were grouped into batches.",
                        "metric", &batches};
TENON_CASE(kBatches);

void merged(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    const Tensors whole = draw_batch(trial.inputs, trial.seed, 0, 12);
    const std::vector<Tensors> parts = cut(whole, {3, 4, 5});
    const std::vector<double> alone = harness::values_of(*made(bench.subject(), trial), parts);
    for (const int64_t world : {2, 4}) {  // with 4, the last rank sees no sample
      bench.doing(fmt::format("compute() on {} ranks", world));
      std::vector<double> together;
      try {
        together = harness::values_over_ranks(
            world, [&] { return made(bench.subject(), trial); }, parts);
      } catch (const Error& error) {
        return bench.fail(fmt::format("on {} ranks it fails: {}", world, error.what()),
                          "every rank calls the same collectives, also one without samples", trial.params);
      }
      if (same(alone, together)) continue;
      return bench.fail(
          fmt::format("one rank gives {}, {} ranks give {}", fmt::join(alone, ", "), world, fmt::join(together, ", ")),
          "add sums and counts of all ranks by all_reduce before dividing", trial.params);
    }
  }
}

constexpr Case kMerged{"metric.ranks", "Its values are the same when samples are dealt to several ranks.", "metric",
                       &merged};
TENON_CASE(kMerged);

void reset(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto metric = made(bench.subject(), trial);
  const std::vector<Tensors> second{draw_batch(trial.inputs, trial.seed, 1)};
  const std::vector<double> fresh = harness::values_of(*made(bench.subject(), trial), second);
  (void)harness::values_of(*metric, {draw_batch(trial.inputs, trial.seed, 0)});
  const std::vector<double> again = harness::values_of(*metric, second);
  if (!same(fresh, again)) {
    bench.fail(fmt::format("after reset() it gives {} where a new one gives {}", fmt::join(again, ", "),
                           fmt::join(fresh, ", ")),
               "forget all samples in reset()", trial.params);
  }
  const std::vector<double> none = harness::values_of(*metric, {});
  for (const double value : none) {
    if (std::isnan(value)) continue;
    return bench.fail(fmt::format("without samples it gives {}", value), "give NaN where there was no sample",
                      trial.params);
  }
}

constexpr Case kReset{"metric.reset", "reset() forgets all samples, and without samples its values are NaN.", "metric",
                      &reset};
TENON_CASE(kReset);

void types(Bench& bench) {
  const Trial& trial = bench.trial();
  for (const Json& port : bench.subject().manifest["ports"]["in"]) {
    if (!port.contains("dtype")) continue;
    for (const Json& name : port["dtype"]) {
      const at::ScalarType type = scalar_type(dtype_of(name.get<std::string>()).value());
      const std::string port_name = port["name"];
      Tensors in = draw_batch(trial.inputs, trial.seed, 0);
      const at::Tensor* const input = in.find(port_name);
      if (input == nullptr) continue;
      in.set(port_name, type == at::kBool ? input->remainder(2).to(type) : input->to(type));
      bench.doing(fmt::format("update() with \"{}\" of type {}", port_name, name.get<std::string>()));
      try {
        (void)harness::values_of(*made(bench.subject(), trial), {in});
      } catch (const std::exception& error) {
        const std::string text = error.what();
        return bench.fail(fmt::format("ports() lists {} for \"{}\", but it is refused: {}", name.get<std::string>(),
                                      port_name, text.substr(0, text.find('\n'))),
                          "list only the types that update() takes", trial.params);
      }
    }
  }
}

constexpr Case kTypes{"metric.types", "It takes each type that its port rules list.", "metric", &types};
TENON_CASE(kTypes);

void inputs(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto metric = made(bench.subject(), trial);
  const Tensors in = draw_batch(trial.inputs, trial.seed, 0);
  Seen before;
  for (const auto& [name, tensor] : in) before.add("input " + name, tensor);
  (void)harness::values_of(*metric, {in});
  Seen after;
  for (const auto& [name, tensor] : in) after.add("input " + name, tensor);
  const std::string what = before.difference(after);
  if (!what.empty())
    bench.fail("it changes its input in place: " + what, "use operations without a trailing _", trial.params);
}

constexpr Case kInputs{"metric.input", "Its inputs are as they were afterwards.", "metric", &inputs};
TENON_CASE(kInputs);

}  // namespace
}  // namespace tenon::conformance
