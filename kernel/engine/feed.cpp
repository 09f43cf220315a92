// From loader batches to tensors.
#include <engine/feed.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <core/plugin/builtin.hpp>
#include <core/storage/canonical_json.hpp>
#include <engine/engine.hpp>
#include <engine/streams.hpp>
#include <tenon/components/remarks.hpp>

namespace tenon::engine {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};

/// True when the path reads the dataset, by itself or through the inputs of another.
bool reaches(const core::Graph& graph, const core::Path& path, const std::string& dataset) {
  const std::function<bool(const std::string&)> from = [&](const std::string& name) {
    const std::vector<std::string>& inputs = graph.at(name).inputs;
    return name == dataset || std::any_of(inputs.begin(), inputs.end(), from);
  };
  return from(path.data);
}

/// Datasets that some of these paths read, each behind its inputs.
std::vector<const core::Node*> datasets_of(const core::Graph& graph, std::span<const core::Path* const> paths) {
  std::vector<const core::Node*> datasets;
  for (const core::Node& node : graph.nodes) {
    const bool read = node.kind == "dataset" && std::any_of(paths.begin(), paths.end(), [&](const core::Path* path) {
                        return reaches(graph, *path, node.name);
                      });
    if (read) datasets.push_back(&node);
  }
  return datasets;
}

void open_dataset(const Components& components, const core::Node& node) {
  components.entering(node.name, "open", "cannot be opened", [&] {
    std::vector<Dataset*> inputs;
    for (const std::string& input : node.inputs) inputs.push_back(&components.node<Dataset>(input));
    components.node<Dataset>(node.name).open(inputs);
  });
}

/// Page-locked memory, from which copies to a GPU are fast.
std::shared_ptr<void> pinned_memory(std::size_t bytes) {
  const auto tensor = std::make_shared<at::Tensor>(at::empty({static_cast<int64_t>(std::max<std::size_t>(bytes, 1))},
                                                             at::TensorOptions(at::kByte).pinned_memory(true)));
  return {tensor, tensor->data_ptr()};
}

}  // namespace

void open_datasets(const Components& components, std::span<const core::Path* const> paths) {
  for (const core::Node* const node : datasets_of(components.graph(), paths)) open_dataset(components, *node);
}

core::Json data_fingerprints(const Components& components, std::span<const core::Path* const> paths) {
  core::Json all = core::Json::object();
  for (const core::Node* const node : datasets_of(components.graph(), paths)) {
    components.entering(node->name, "fingerprint", "cannot tell its fingerprint", [&] {
      const Dataset& dataset = components.node<Dataset>(node->name);
      all[node->name] = {{"size", dataset.size()}, {"fingerprint", dataset.fingerprint()}};
    });
  }
  return all;
}

void tell_remarks(const Components& components, std::span<const core::Path* const> paths,
                  const std::function<void(const std::string&)>& remark) {
  if (!remark) return;
  for (const core::Node* const node : datasets_of(components.graph(), paths)) {
    components.entering(node->name, "remarks", "cannot tell what is to be known of its data", [&] {
      void* const ability = components.component(node->name).ability(Remarks::kAbility);
      if (ability == nullptr) return;
      for (const std::string& text : static_cast<Remarks*>(ability)->remarks()) {
        remark(fmt::format("dataset \"{}\": {}", node->name, text));
      }
    });
  }
}

Feed::Feed(const Components& components, const core::Path& path, uint64_t seed)
    : components_(components),
      path_(path),
      loader_node_(components.graph().at(path.data)),
      stream_(make_stream(components, stages_of(components.graph(), path), seed)) {}

void Feed::connect(const Collectives& ranks, c10::Device device, at::ScalarType storage) {
  const auto params = parse_params<core::LoaderParams>(core::line_text(loader_node_.with));
  device_ = device;
  storage_ = storage;
  batch_ = params.batch;
  LoaderOptions options;
  options.node = loader_node_.name;
  options.batch = batch_;
  options.shuffle = params.shuffle;
  options.last = params.last == core::LastBatch::kDrop ? LastBatch::kDrop : LastBatch::kKeep;
  options.workers = static_cast<int>(core::loader_workers(params, std::thread::hardware_concurrency()));
  options.prefetch = params.prefetch;
  options.limit = path_.limit;
  options.same_epoch = path_.overfit.has_value();
  if (path_.overfit) options.limit = std::min(*path_.overfit, path_.limit.value_or(*path_.overfit));
  options.rank = ranks.rank();
  options.world = ranks.world();
  if (device.is_cuda()) options.allocate = pinned_memory;
  options.on_thread_start = [] { at::set_num_threads(1); };
  try {
    loader_ = std::make_unique<Loader>(stream_, std::move(options));
  } catch (const Error& error) {
    throw PlacedError(core::diagnose(components_.resolved(), loader_node_.pointer + "/use", error));
  }
}

int64_t Feed::batches_within(std::optional<int64_t> limit) const {
  BatchPlan plan = loader_->plan();
  plan.limit = limit;
  return plan.batches();
}

void Feed::start(int64_t epoch, int64_t first_batch, int64_t epochs) { loader_->start(epoch, first_batch, epochs); }

std::optional<DeviceBatch> Feed::next(const std::function<void()>& poll) {
  while (poll && !loader_->wait(kPollInterval)) poll();
  std::optional<Batch> host = take();
  if (!host) return std::nullopt;
  DeviceBatch batch;
  batch.samples = host->samples;
  batch.epoch = host->epoch;
  batch.index = host->index;
  batch.sample_ids = std::move(host->sample_ids);
  for (const BatchField& field : host->fields) {
    const auto keep = [memory = host->memory](void*) {};
    const at::Tensor tensor = at::from_blob(field.data, field.shape, keep, at::TensorOptions(scalar_type(field.dtype)));
    const at::ScalarType type = tensor.is_floating_point() ? storage_ : tensor.scalar_type();
    batch.fields.set(field.name, tensor.to(device_, type));
  }
  return batch;
}

std::optional<Batch> Feed::take() {
  try {
    return loader_->next();
  } catch (const DataError& error) {
    core::Diagnostic diagnostic = core::diagnose(components_.resolved(), place_of(error), error);
    if (!error.field().empty()) {
      const bool text = may_be_text(*find(fields(), error.field()));
      diagnostic.code = text ? "text-field" : "ragged-field";
    }
    throw PlacedError(std::move(diagnostic));
  }
}

/// A node at fault itself; for a field whoever reads it, or the loader where nobody does.
std::string Feed::place_of(const DataError& error) const {
  const core::Graph& graph = components_.graph();
  if (!error.node().empty()) return place_of_stage(graph.at(error.node()));
  for (const std::string& name : path_.step) {
    for (const core::Wire& wire : graph.at(name).wires) {
      if (wire.from_batch() && wire.output == error.field()) return graph.at(name).pointer + "/in/" + wire.port;
    }
  }
  return loader_node_.pointer + "/in";
}

double Feed::waited() const { return std::chrono::duration<double>(loader_->waited()).count(); }

}  // namespace tenon::engine
