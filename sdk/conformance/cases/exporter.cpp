// Exporters: one file that holds everything. Distributed backends: what their collectives give.
#include <conformance/case.hpp>

#include <filesystem>

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <conformance/own_model.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/harness/collectives.hpp>
#include <tenon/harness/exporters.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::conformance {
namespace {

void round_trip(Bench& bench) {
  const Subject& subject = bench.subject();
  const auto exporter = harness::Registry::as<Exporter>(subject.make(bench.params()));
  OwnModel model;
  harness::build(model, {{"x", Dtype::kFloat32, {"N", 6}}}, subject.seed);
  Seen before;
  for (const auto& [name, tensor] : harness::tensors_of(model.root())) before.add("value " + name, tensor);
  const std::filesystem::path folder = subject.scratch / "alone";
  std::filesystem::create_directory(folder);
  bench.doing("write() and open()");
  for (const std::string& each : harness::export_differences(*exporter, model, OwnModel::example(subject.seed),
                                                             folder / ("model" + exporter->extension()))) {
    bench.fail(each, "the file computes what the model computes in evaluation, at every batch size", bench.params());
  }
  Seen after;
  for (const auto& [name, tensor] : harness::tensors_of(model.root())) after.add("value " + name, tensor);
  if (const std::string what = before.difference(after); !what.empty()) {
    bench.fail("write() changes the model: " + what, "copy what is changed", bench.params());
  }
  const auto files = std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  if (files != 1)
    bench.fail(fmt::format("write() leaves {} files", files), "put everything into the one file", bench.params());
}

constexpr Case kRoundTrip{"exporter.file", "The one file that it writes computes what the live model computes.",
                          "exporter", &round_trip};
TENON_CASE(kRoundTrip);

void stored(Bench& bench) {
  const Subject& subject = bench.subject();
  const auto exporter = harness::Registry::as<Exporter>(subject.make(bench.params()));
  auto* const ability = harness::ability<StoredTensors>(*exporter);
  if (ability == nullptr) throw Skip{"it does not say which tensors a file stores"};
  const c10::NoGradGuard no_grad;
  OwnModel model;
  harness::build(model, {{"x", Dtype::kFloat32, {"N", 6}}}, subject.seed);
  model.root().train(false);
  const std::filesystem::path file = subject.scratch / ("stored" + exporter->extension());
  exporter->write(model, OwnModel::example(subject.seed), {"y"}, file);
  Seen live;
  Seen found;
  const Tensors in_file = ability->stored(file);
  for (const auto& [name, tensor] : harness::tensors_of(model.root())) {
    if (in_file.find(name) == nullptr) continue;
    live.add(name, tensor);
    found.add(name, in_file.at(name));
  }
  if (live.empty())
    return bench.fail("none of the model's tensors is found in the file", "give them under the model's own names",
                      bench.params());
  if (const std::string what = live.difference(found); !what.empty()) {
    bench.fail("the file's tensors differ from the model's: " + what, "store them as they are", bench.params());
  }
}

constexpr Case kStored{"exporter.tensors", "The tensors in its file are the model's, bit by bit, where it tells them.",
                       "exporter", &stored};
TENON_CASE(kStored);

/// Its ranks say who they are.
void try_ranks(Bench& bench) {
  const auto made = harness::Registry::as<Distributed>(bench.subject().make(bench.params()));
  auto* const in_process = harness::ability<InProcess>(*made);
  const int64_t ranks = in_process == nullptr ? made->join().world() : in_process->ranks();
  if (ranks < 1) bench.fail(fmt::format("it has {} ranks", ranks), "a world has at least one rank", bench.params());
  for (int64_t rank = 0; in_process != nullptr && rank < ranks; ++rank) {
    if (in_process->rank(rank).rank() == rank && in_process->rank(rank).world() == ranks) continue;
    bench.fail(fmt::format("rank({}) says that it is rank {} of {}", rank, in_process->rank(rank).rank(),
                           in_process->rank(rank).world()),
               "give each rank its own collectives", bench.params());
  }
}

void world(Bench& bench) {
  try_ranks(bench);
  if (!bench.findings().empty()) return;
  const auto working = harness::Registry::as<Distributed>(bench.subject().make(bench.params()));
  const auto report = [&](const std::vector<std::string>& faults, const char* cure) {
    if (faults.empty()) return;
    const std::string more = faults.size() == 1 ? "" : fmt::format(", and {} more", faults.size() - 1);
    bench.fail(faults.front() + more, cure, bench.params());
  };
  bench.doing("every collective on all ranks");
  report(harness::collective_faults(*working),
         "combine in order of rank, so that all get the same bytes, and write in place");
  bench.doing("abandon()");
  report(harness::abandon_faults(*working), "wake those who wait, and throw the first reason from then on");
}

constexpr Case kWorld{
    "distributed.world",
    "Its ranks are numbered from 0, agree on how many there are, and get from every collective what it promises.",
    "distributed", &world};
TENON_CASE(kWorld);

}  // namespace
}  // namespace tenon::conformance
