// From a loader's parameters to orders.
#include <engine/sampling.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>

#include <core/storage/canonical_json.hpp>
#include <engine/data/machine.hpp>
#include <engine/data/scan.hpp>
#include <engine/streams.hpp>
#include <tenon/components/columns.hpp>

namespace tenon::engine {
namespace {

/// A dataset's index; what it throws has the dataset's place.
class GuardedColumns final : public Columns {
 public:
  GuardedColumns(const Components& components, const core::Node& dataset, const Columns& index)
      : components_(components), dataset_(dataset), index_(index) {}

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    return components_.entering(dataset_.name, "column", kDoing, [&] { return index_.column(field); });
  }
  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    return components_.entering(dataset_.name, "lengths", kDoing, [&] { return index_.lengths(field); });
  }

 private:
  static constexpr const char* kDoing = "cannot tell what its index knows";

  const Components& components_;
  const core::Node& dataset_;
  const Columns& index_;
};

}  // namespace

std::shared_ptr<const Sampler> make_sampler(const Components& components, const core::Path& path, uint64_t seed,
                                            const SamplingOptions& options) {
  const core::LoaderParams params = loader_params(components.graph(), path);
  if (!params.sampler && !params.buckets) return nullptr;
  const core::Node* const source = stages_of(components.graph(), path).front();
  const auto dataset = std::make_shared<const Stream>(make_stream(components, std::array{source}, seed));
  OrderOptions order{.items = dataset->size(),
                     .shuffle = params.shuffle,
                     .sampler = params.sampler,
                     .buckets = params.buckets,
                     .batch = params.batch,
                     .seed = seed,
                     .node = path.loader};
  std::optional<GuardedColumns> index;
  if (const void* const columns = components.component(source->name).ability(Columns::kAbility)) {
    index.emplace(components, *source, *static_cast<const Columns*>(columns));
  }
  ScanOptions scan;
  scan.threads = usable_cores();
  scan.tolerate = options.tolerate;
  scan.on_thread_start = take_one_core;
  scan.poll = options.poll;
  scan.remark = options.remark;
  scan.sample_timeout = sample_timeout(params);
  scan.keep = dataset;
  scan.give_up = [&] { components.give_up(*source); };
  OrderColumns columns = order_columns(*dataset, index ? &*index : nullptr, order, scan);
  return std::make_shared<const Sampler>(std::move(order), std::move(columns));
}

core::LoaderParams loader_params(const core::Graph& graph, const core::Path& path) {
  core::Json with = graph.at(path.loader).with;
  if (path.name == "predict") {
    for (const char* const name : core::kOrderParams) with.erase(name);
  }
  return parse_params<core::LoaderParams>(core::line_text(with));
}

std::chrono::nanoseconds sample_timeout(const core::LoaderParams& params) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::min(params.sample_timeout.seconds, 1e8)));
}

void take_one_core() { at::set_num_threads(1); }

}  // namespace tenon::engine
