// From loader batches to tensors.
#include <engine/feed.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <core/plugin/builtin.hpp>
#include <core/storage/canonical_json.hpp>
#include <engine/engine.hpp>
#include <engine/sampling.hpp>
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
    for (const std::string& input : node.inputs) inputs.push_back(&components.input(input));
    components.node<Dataset>(node.name).open(inputs);
  });
}

/// Page-locked memory, from which copies to a GPU are fast.
std::shared_ptr<void> pinned_memory(std::size_t bytes) {
  try {
    const auto tensor = std::make_shared<at::Tensor>(at::empty({static_cast<int64_t>(std::max<std::size_t>(bytes, 1))},
                                                               at::TensorOptions(at::kByte).pinned_memory(true)));
    return {tensor, tensor->data_ptr()};
  } catch (...) {
    throw current_error(ErrorCode::kMemory);
  }
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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
      loader_node_(components.graph().at(path.loader)),
      params_(loader_params(components.graph(), path)),
      stream_(std::make_shared<const Stream>(make_stream(components, stages_of(components.graph(), path), seed))),
      loader_fields_(fields_of_batch()),
      batch_stages_(components, path, seed),
      fields_(batch_stages_.spec(loader_fields_)) {}

/// As the loader puts them together. \throws PlacedError for a parameter that names a field which is not there.
Spec Feed::fields_of_batch() const {
  try {
    return core::batch_fields(params_.pad, params_.lists, stream_->fields());
  } catch (const Error& error) {
    throw PlacedError(core::diagnose(components_.resolved(), loader_node_, error));
  }
}

Feed::~Feed() { end_loader(); }

/// What threads that are given up still read is never destroyed.
void Feed::end_loader() {
  const std::unique_ptr<Loader> loader = std::move(loader_);
  if (loader == nullptr || loader->end()) return;
  for (const core::Node* const stage : stages_of(components_.graph(), path_)) components_.give_up(*stage);
}

void Feed::connect(const Collectives& ranks, c10::Device device, at::ScalarType storage,
                   const std::function<void()>& poll) {
  device_ = device;
  storage_ = storage;
  rank_ = ranks.rank();
  batch_ = params_.batch;
  end_loader();
  try {
    LoaderOptions options = loader_options(ranks);
    const auto remark = [messages = messages_](const std::string& text) { messages->add(text); };
    options.sampler = make_sampler(components_, path_, stream_->seed(), {params_.bad_sample.has_value(), poll, remark});
    loader_ = std::make_unique<Loader>(*stream_, std::move(options));
  } catch (const PlacedError&) {
    throw;
  } catch (const DataError& error) {
    throw PlacedError(core::diagnose(components_.resolved(), place_of(error), error));
  } catch (const Error& error) {
    core::Diagnostic diagnostic = core::diagnose(components_.resolved(), loader_node_.pointer + "/use", error);
    throw PlacedError(error.pointer().empty() ? std::move(diagnostic)
                                              : core::diagnose(components_.resolved(), loader_node_, error));
  }
}

LoaderOptions Feed::loader_options(const Collectives& ranks) const {
  LoaderOptions options;
  options.node = loader_node_.name;
  options.batch = params_.batch;
  options.shuffle = params_.shuffle;
  options.collate.pad = params_.pad;
  options.collate.lists = params_.lists;
  options.bad_sample = params_.bad_sample;
  // A row stands for its own sample, or there is none.
  if (options.bad_sample && path_.name == "predict") options.bad_sample->policy = core::BadSamplePolicy::kSkip;
  options.last = params_.last == core::LastBatch::kDrop ? LastBatch::kDrop : LastBatch::kKeep;
  options.automatic = !params_.workers;
  options.workers = static_cast<int>(params_.workers.value_or(0));
  options.prefetch = params_.prefetch;
  options.memory = params_.memory.count;
  options.sample_timeout = sample_timeout(params_);
  options.limit = path_.limit;
  options.same_epoch = path_.overfit.has_value();
  if (path_.overfit) options.limit = std::min(*path_.overfit, path_.limit.value_or(*path_.overfit));
  options.rank = ranks.rank();
  options.world = ranks.world();
  options.on_thread_start = take_one_core;
  options.keep = stream_;
  if (device_.is_cuda()) {
    const auto warn = [messages = messages_, node = loader_node_.name](const std::string& why) {
      messages->add(
          fmt::format("loader \"{}\": no more page-locked memory ({}); batches take ordinary memory, from "
                      "which copies to the GPU are slower",
                      node, why));
    };
    options.allocate = preferring(pinned_memory, most_bytes(*stream_, options), warn);
  }
  return options;
}

int64_t Feed::batches_within(std::optional<int64_t> limit) const {
  BatchPlan plan = loader_->plan();
  plan.limit = limit;
  return plan.batches();
}

void Feed::start(int64_t epoch, int64_t first_batch, int64_t epochs) {
  epochs_ = epochs;
  loader_->start(epoch, first_batch, epochs);
}

std::optional<DeviceBatch> Feed::next(const std::function<void()>& poll) {
  std::optional<Batch> host = take(poll);
  if (!host) return std::nullopt;
  const double begin = now();
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
  copied_ += now() - begin;
  if (batch.samples > 0) {  // transforms are promised one at least
    batch.fields = batch_stages_.apply(std::move(batch.fields), {batch.epoch, epochs_, batch.index, rank_});
  }
  return batch;
}

std::optional<Batch> Feed::take(const std::function<void()>& poll) {
  try {
    while (poll && !loader_->wait(kPollInterval)) poll();
    return loader_->next();
  } catch (const DataError& error) {
    core::Diagnostic diagnostic = core::diagnose(components_.resolved(), place_of(error), error);
    if (!error.field().empty()) {
      const bool text = may_be_text(*find(stream_->fields(), error.field()));
      diagnostic.code = text ? "text-field" : "ragged-field";
    }
    throw PlacedError(std::move(diagnostic));
  }
}

std::vector<std::string> Feed::take_messages() {
  const std::lock_guard lock(messages_->mutex);
  return std::exchange(messages_->texts, {});
}

/// A node at fault itself; for a field whoever reads it, or the loader where nobody does.
std::string Feed::place_of(const DataError& error) const {
  const core::Graph& graph = components_.graph();
  const core::Node* const fault = error.node().empty() ? nullptr : graph.find(error.node());
  if (fault != nullptr) return place_of_stage(*fault);
  for (const std::string& name : path_.step) {
    for (const core::Wire& wire : graph.at(name).wires) {
      if (wire.from_batch() && wire.output == error.field()) return graph.at(name).pointer + "/in/" + wire.port;
    }
  }
  return loader_node_.pointer + "/in";
}

double Feed::waited() const { return std::chrono::duration<double>(loader_->waited()).count(); }

}  // namespace tenon::engine
