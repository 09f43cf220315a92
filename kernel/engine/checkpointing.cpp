// Writing checkpoints.
#include <engine/checkpointing.hpp>

#include <map>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <core/process/crash_scene.hpp>
#include <core/storage/event_log.hpp>
#include <engine/class_names.hpp>
#include <engine/state_saver.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {
namespace {

core::RetentionRule retention_of(const core::CheckpointPlan& plan) {
  core::RetentionRule rule;
  rule.last = plan.keep_last;
  if (plan.best) {
    rule.best = plan.best->count;
    rule.metric = plan.best->key;
    rule.direction = plan.best->direction;
  }
  return rule;
}

/// Tensors as arrays on the host; names of tied tensors, which share their memory, become aliases.
struct HostTensors {
  std::vector<at::Tensor> tensors;
  std::vector<Shape> shapes;
  std::vector<core::NamedArray> arrays;
  core::Metadata aliases;
};

HostTensors host_tensors(Model& model) {
  HostTensors host;
  std::map<std::pair<const void*, int64_t>, std::string> owners;
  const auto named = model_tensors(model);
  host.tensors.reserve(named.size());
  host.shapes.reserve(named.size());
  for (const auto& [name, tensor] : named) {
    const auto [owner, fresh] = owners.emplace(std::pair(tensor.const_data_ptr(), tensor.numel()), name);
    if (!fresh && tensor.numel() > 0) {
      host.aliases.emplace(name, owner->second);
      continue;
    }
    host.tensors.push_back(tensor.cpu().contiguous());
    host.shapes.push_back(tensor.sizes().vec());
    host.arrays.push_back(
        {name, Array{host.tensors.back().data_ptr(), dtype_of(tensor.scalar_type()), host.shapes.back()}});
  }
  return host;
}

}  // namespace

std::string state_file(const core::Node& node) {
  return (node.kind == "optimizer" ? "optimizer." : "state.") + node.name;
}

std::string stop_file(std::size_t entry) { return "stop." + std::to_string(entry); }

Checkpointing::Checkpointing(const Components& components, const core::RunDirectory& directory, Training& training,
                             core::Json provenance)
    : components_(components),
      directory_(directory),
      folder_(directory.checkpoints()),
      training_(training),
      provenance_(std::move(provenance)),
      rule_(retention_of(components.graph().checkpoint)) {}

void Checkpointing::go_on_from(const core::Checkpoint& checkpoint, const Standing& standing,
                               std::vector<std::string>& notes) {
  index_ = core::CheckpointIndex::load_or_rebuild(folder_, notes);
  index_.take_metrics_from(folder_.parent_path() / "log.jsonl");
  index_.rewind(checkpoint.step(), !standing.pending.empty(), rule_);
  index_.history.back().interim = standing.interim;
  // A best one that test and export cannot read would end every run at its end.
  while (index_.best && *index_.best != checkpoint.step()) {
    const std::filesystem::path best = folder_ / core::step_name(*index_.best);
    try {
      static_cast<void>(core::read_checkpoint(best));
      break;
    } catch (const Error& error) {
      notes.push_back(fmt::format("{}; it was the best, and is now {}: the best of those that are left counts",
                                  error.what(), core::set_aside(best).filename().string()));
    }
    for (core::CheckpointRecord& record : index_.history) {
      if (record.step == *index_.best) record.kept = false;
    }
    index_.rewind(checkpoint.step(), !standing.pending.empty(), rule_);
  }
  index_.save(folder_);
  core::CrashScene::checkpoint(checkpoint.path());
}

bool Checkpointing::last_is_best() const noexcept { return index_.best && index_.best == index_.last; }

std::map<std::string, double> Checkpointing::last_metrics() const {
  const core::CheckpointRecord* const record = index_.last ? index_.find(*index_.last) : nullptr;
  return record == nullptr ? std::map<std::string, double>{} : record->metrics;
}

std::filesystem::path Checkpointing::last_path() const {
  return index_.last ? folder_ / core::step_name(*index_.last) : std::filesystem::path();
}

uint64_t Checkpointing::estimated_bytes() const {
  uint64_t bytes = uint64_t{64} << 10U;  // manifests and state
  for (const core::Node& node : components_.graph().nodes) {
    if (!owns_component(node)) continue;
    if (node.kind == "model") {
      for (const auto& [name, tensor] : model_tensors(components_.node<Model>(node.name))) bytes += tensor.nbytes();
    }
    if (node.kind == "optimizer") {
      StateSaver saver;
      components_.entering(node.name, "state", "cannot tell how much state it has",
                           [&] { components_.component(node.name).state(saver); });
      for (const core::NamedArray& array : saver.arrays()) bytes += array.array.bytes();
    }
  }
  return bytes;
}

std::filesystem::path Checkpointing::write(const Standing& standing) {
  const core::CheckpointRecord* const there = index_.find(training_.step_count());
  const bool gives_way = there != nullptr && there->interim && !standing.interim;
  if (there != nullptr && !gives_way) return last_path();
  directory_.require_present();
  core::CheckpointWriter writer(folder_, training_.step_count());
  core::Json state;
  state["format"] = 1;
  state["pipeline"] = components_.graph().name;
  state["provenance"] = provenance_;
  state["pending"] = core::Json::array();
  for (const std::string& validation : standing.pending) state["pending"].push_back(validation);
  if (!standing.stopped.empty()) state["stopped"] = standing.stopped;
  if (standing.interim) state["interim"] = true;

  // What fails in the writer is the disk's fault and not the component's.
  const auto keep = [&](const std::string& file, const StateSaver& saver) {
    if (!saver.arrays().empty()) writer.add_tensors(file, saver.arrays());
    return saver.scalars();
  };
  for (const core::Node& node : components_.graph().nodes) {
    if (!owns_component(node)) continue;
    if (node.kind == "model") {
      const HostTensors host = host_tensors(components_.node<Model>(node.name));
      writer.add_tensors("model." + node.name, host.arrays, host.aliases);
    }
    StateSaver saver;
    components_.entering(node.name, "state", "cannot save its state",
                         [&] { components_.component(node.name).state(saver); });
    const core::Json scalars = keep(state_file(node), saver);
    if (!scalars.empty()) state["components"][node.name] = scalars;
  }
  for (std::size_t i = 0; i < components_.stop().size(); ++i) {
    const Components::Observing& each = components_.stop()[i];
    StateSaver saver;
    components_.entering(each, "state", [&] { each.handle.get().state(saver); });
    state["stop"].push_back({{"use", each.attached->use}, {"state", keep(stop_file(i), saver)}});
  }
  if (!class_names_) class_names_ = trained_class_names(components_);
  if (!class_names_->empty()) state["categories"] = *class_names_;
  StateSaver position;
  training_.state(position);
  state["training"] = position.scalars();
  writer.add_tensors(kTrainingFile, position.arrays());
  writer.add_json("state", state);
  std::filesystem::path path = writer.commit(gives_way);
  core::CrashScene::checkpoint(path);

  core::CheckpointRecord record;
  record.step = training_.step_count();
  record.epoch = training_.epoch();
  record.wall_time = core::EventLog::system_seconds();
  record.pending_validation = !standing.pending.empty();
  record.interim = standing.interim;
  index_.add(std::move(record));
  index_.save(folder_);
  if (standing.pending.empty() || standing.interim) retain();
  return path;
}

bool Checkpointing::validated(const std::map<std::string, double>& metrics) {
  const bool best = index_.validated(training_.step_count(), metrics, rule_);
  index_.save(folder_);
  retain();
  return best;
}

void Checkpointing::retain() { core::apply_retention(folder_, index_, rule_); }

Checkpointing::Chosen Checkpointing::chosen() const {
  const bool best = index_.best.has_value();
  const int64_t step = best ? *index_.best : index_.last.value();
  const core::CheckpointRecord* const record = index_.find(step);
  return {folder_ / core::step_name(step), best, record == nullptr ? std::map<std::string, double>{} : record->metrics};
}

}  // namespace tenon::engine
