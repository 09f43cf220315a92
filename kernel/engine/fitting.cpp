// Fitted transforms: one pass over the training data for each, before the first step.
#include <engine/fitting.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <engine/data/loader.hpp>
#include <engine/data/memory.hpp>
#include <engine/data/stage.hpp>
#include <engine/data/stream.hpp>
#include <engine/engine.hpp>
#include <engine/sampling.hpp>
#include <engine/streams.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};
constexpr int64_t kBatchBytes = int64_t{1} << 18;
constexpr int64_t kMostSamples = 64;  // of a batch, and batches ahead where each is a sample

/// Samples that go together to the thread that learns: several where all have one size, and are small.
int64_t batch_for(const Stream& stream) {
  int64_t bytes = 1;
  for (const FieldSpec& field : stream.fields()) {
    auto size = static_cast<int64_t>(size_of(field.dtype));
    for (const Dim& dim : field.shape) {
      if (!dim.fixed()) return 1;
      size = std::min(size * std::max<int64_t>(dim.size, 1), kBatchBytes);
    }
    bytes += size;
  }
  return std::clamp<int64_t>(kBatchBytes / bytes, 1, kMostSamples);
}

/// What reaches one transform, sample by sample.
class Pass {
 public:
  Pass(const Components& components, std::span<const core::Node* const> stages, const core::Path& path, uint64_t seed,
       const FitOptions& options)
      : components_(components),
        stages_(stages),
        path_(path),
        options_(options),
        stream_(std::make_shared<const Stream>(make_stream(components, stages, seed))),
        loader_(*stream_, loader_options()) {}
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  ~Pass() {
    if (loader_.end()) return;
    for (const core::Node* const stage : stages_) components_.give_up(*stage);
  }

  [[nodiscard]] const Stream& stream() const noexcept { return *stream_; }

  /// False when it was broken off. `see` gets the values of a sample and its index.
  template <class See>
  bool run(const See& see) {
    loader_.start(0, 0, 1);
    while (const std::optional<Batch> batch = next()) {
      for (const BadSample& bad : batch->bad) leave_out(bad);
      for (int64_t i = 0; i < batch->samples; ++i) {
        see(sample(*batch, i), batch->sample_ids[static_cast<std::size_t>(i)]);
      }
      if (ended()) return false;
    }
    return !ended();
  }

  /// Samples that could not be made, and why the first of them.
  [[nodiscard]] int64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  [[nodiscard]] LoaderOptions loader_options() const {
    const core::LoaderParams params = loader_params(components_.graph(), path_);
    LoaderOptions options;
    options.node = path_.loader;
    options.batch = batch_for(*stream_);
    options.automatic = true;
    options.prefetch = std::max<int64_t>(params.prefetch, kMostSamples / options.batch);
    options.memory = params.memory.count;
    options.sample_timeout = sample_timeout(params);
    options.on_thread_start = take_one_core;
    options.keep = stream_;
    if (params.bad_sample) {
      const int64_t most = std::numeric_limits<int64_t>::max() / options_.ranks;
      options.bad_sample =
          core::BadSampleParams{core::BadSamplePolicy::kSkip, std::min(params.bad_sample->max, most) * options_.ranks};
    }
    return options;
  }

  [[nodiscard]] bool ended() const { return options_.ended && options_.ended(); }

  std::optional<Batch> next() {
    try {
      while (!loader_.wait(kPollInterval)) {
        if (ended()) return std::nullopt;
      }
      return loader_.next();
    } catch (const DataError& error) {
      throw PlacedError(core::diagnose(components_.resolved(), place_of(components_.graph(), path_, error), error));
    }
  }

  void leave_out(const BadSample& bad) {
    if (left_out_++ == 0) why_ = bad.message;
  }

  std::span<const Value> sample(const Batch& batch, int64_t i) {
    values_.resize(batch.fields.size());
    for (std::size_t field = 0; field < values_.size(); ++field) {
      const BatchField& from = batch.fields[field];
      Value& value = values_[field];
      value.keep(std::span(from.shape).subspan(1));
      const std::size_t bytes = static_cast<std::size_t>(elements(value.shape)) * size_of(from.dtype);
      value.data = static_cast<std::byte*>(from.data) + static_cast<std::size_t>(i) * bytes;
      value.set = true;
    }
    return values_;
  }

  const Components& components_;
  std::span<const core::Node* const> stages_;
  const core::Path& path_;
  const FitOptions& options_;
  std::shared_ptr<const Stream> stream_;
  Loader loader_;
  std::vector<Value> values_;
  int64_t left_out_ = 0;
  std::string why_;
};

/// One pass over what reaches `fitted`.
void learn(Pass& pass, const Stage& stage, Fitted& fitted) {
  const Stream& before = pass.stream();
  Arena arena;
  std::vector<Value> nothing(before.fields().size());
  fitted.begin();
  const bool whole = pass.run([&](std::span<const Value> values, int64_t index) {
    const StageSample view(stage, before.fields(), values, nothing, arena, nullptr);
    const core::Entered entered(stage.callee, "observe", index);
    try {
      fitted.observe(view);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("sample {} of \"{}\": {}", index, before.dataset_node(), error.what()),
                  error.pointer());
    }
  });
  if (whole) fitted.finish();
}

}  // namespace

void fit_transforms(const Components& components, const core::Path& path, uint64_t seed, const FitOptions& options) {
  const std::vector<const core::Node*> stages = stages_of(components.graph(), path);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    const core::Node& node = *stages[i];
    if (!owns_component(node)) continue;
    void* const ability = components.component(node.name).ability(Fitted::kAbility);
    if (ability == nullptr) continue;
    components.entering(node.name, "fit", "cannot learn from the training data", [&] {
      Pass pass(components, std::span(stages).first(i), path, seed, options);
      Stage stage{.node = node.name,
                  .component = node.use(),
                  .callee = components.callee(node.name),
                  .spec = pass.stream().fields()};
      stage.plan({});
      learn(pass, stage, *static_cast<Fitted*>(ability));
      if (pass.left_out() > 0 && options.remark) {
        options.remark(fmt::format("\"{}\" learned without {} of {} samples, which could not be made; {}", node.name,
                                   pass.left_out(), pass.stream().size(), pass.why()));
      }
    });
    if (options.ended && options.ended()) return;
  }
}

}  // namespace tenon::engine
