// Fitted transforms: one pass over the training data for each, before the first step.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include <engine/data/memory.hpp>
#include <engine/data/stage.hpp>
#include <engine/data/stream.hpp>
#include <engine/engine.hpp>
#include <engine/feed.hpp>
#include <engine/streams.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

/// Memory for one sample's fields, the same again for every sample.
class OneSample final : public Destination {
 public:
  explicit OneSample(const Spec& fields) : fields_(fields), memory_(fields.size()), values_(fields.size()) {}

  [[nodiscard]] void* place(int field, std::span<const int64_t> shape) override {
    const auto at = static_cast<std::size_t>(field);
    std::size_t bytes = size_of(fields_[at].dtype);
    for (const int64_t size : shape) bytes *= static_cast<std::size_t>(size);
    memory_[at].resize(std::max<std::size_t>(bytes, 1));
    values_[at].data = memory_[at].data();
    values_[at].keep(shape);
    values_[at].set = true;
    return memory_[at].data();
  }

  [[nodiscard]] std::span<const Value> values() const noexcept { return values_; }

 private:
  const Spec& fields_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Value> values_;
};

/// One sample of what reaches a fitted transform. What goes wrong on the way is told of the stage where it did.
void read_sample(const Components& components, const Stream& before, int64_t index, OneSample& sample,
                 Workspace& workspace) {
  try {
    before.run({.index = index}, sample, workspace);
  } catch (const DataError& error) {
    const core::Node& stage = components.graph().at(error.node());
    throw PlacedError(core::diagnose(components.resolved(), place_of_stage(stage), error));
  }
}

/// One pass over what reaches `fitted`.
void learn(const Components& components, const Stream& before, const Stage& stage, Fitted& fitted,
           const std::function<bool()>& ended) {
  components.entering(stage.node, "fit", "cannot learn from the training data", [&] {
    fitted.begin();
    OneSample sample(before.fields());
    Workspace workspace;
    Arena arena;
    std::vector<Value> nothing(before.fields().size());
    const int64_t size = before.size();
    for (int64_t index = 0; index < size; ++index) {
      if (ended()) return;
      read_sample(components, before, index, sample, workspace);
      const StageSample view(stage, before.fields(), sample.values(), nothing, arena, nullptr);
      const core::Entered entered(stage.callee, "observe", index);
      try {
        fitted.observe(view);
      } catch (const Error& error) {
        throw Error(error.code(), fmt::format("sample {} of \"{}\": {}", index, before.dataset_node(), error.what()),
                    error.pointer());
      }
    }
    fitted.finish();
  });
}

}  // namespace

void fit_transforms(const Components& components, const core::Path& path, uint64_t seed,
                    const std::function<bool()>& ended) {
  const std::vector<const core::Node*> stages = stages_of(components.graph(), path);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    const core::Node& node = *stages[i];
    if (!owns_component(node)) continue;
    void* const ability = components.component(node.name).ability(Fitted::kAbility);
    if (ability == nullptr) continue;
    const Stream before = make_stream(components, std::span(stages).first(i), seed);
    Stage stage{
        .node = node.name, .component = node.use(), .callee = components.callee(node.name), .spec = before.fields()};
    stage.plan({});
    learn(components, before, stage, *static_cast<Fitted*>(ability), ended);
  }
}

}  // namespace tenon::engine
