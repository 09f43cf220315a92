// The loader's order, the stream's samples, and scales undone.
#include <engine/data_show.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <engine/data/loader.hpp>
#include <engine/data_plane.hpp>
#include <engine/engine.hpp>
#include <engine/sampling.hpp>
#include <engine/streams.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr int64_t kPrefetch = 8;

/// value · scale + offset along the rescaling's axis. Leaves alone what does not fit it.
template <class T>
void undo(std::span<T> values, const Shape& shape, const Rescaling& rescaling) {
  const auto count = static_cast<int64_t>(rescaling.scale.size());
  int64_t behind = 1;  // elements behind the axis
  if (count > 1) {
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = rescaling.axis < 0 ? rank + rescaling.axis : rescaling.axis;
    if (axis < 0 || axis >= rank || shape[static_cast<std::size_t>(axis)] != count) return;
    for (int64_t i = axis + 1; i < rank; ++i) behind *= shape[static_cast<std::size_t>(i)];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = count > 1 ? (i / static_cast<std::size_t>(behind)) % rescaling.scale.size() : 0;
    const std::size_t offset = rescaling.offset.size() > 1 ? at : 0;
    values[i] = static_cast<T>(static_cast<double>(values[i]) * rescaling.scale[at] + rescaling.offset[offset]);
  }
}

class Shower {
 public:
  explicit Shower(const DataShowRequest& request)
      : request_(request),
        plane_(request.graph, request.resolved, request.catalogue),
        path_(path()),
        stages_(stages_of(plane_.graph(), path_)),
        stream_(std::make_shared<const Stream>(make_stream(plane_.components(), stages_, plane_.seed()))) {}

  DataShown show() {
    const DataPlane::Outcome opened = plane_.open(std::vector{&path_}, request_.remark);
    if (!opened.unlearned.empty()) throw Error(ErrorCode::kData, opened.unlearned);
    DataShown shown;
    shown.dataset = stages_.front()->name;
    shown.size = stream_->size();
    for (const FieldSpec& field : stream_->fields()) {
      shown.fields.push_back(
          {field, plane_.categories(*stages_.back(), field.name), plane_.columns(*stages_.front(), field.name)});
      rescalings_.push_back(rescalings_of(field));
    }
    shown.left_out = batch_transforms();
    take_samples(shown);
    return shown;
  }

 private:
  [[nodiscard]] const core::Path& path() const {
    const std::vector<const core::Path*> paths = plane_.graph().streams();
    return **std::find_if(paths.begin(), paths.end(),
                          [&](const core::Path* each) { return each->name == request_.path; });
  }

  /// With fit.overfit every epoch is the first of one.
  [[nodiscard]] int64_t epoch() const { return path_.overfit ? 0 : request_.epoch; }

  [[nodiscard]] int64_t epochs() const {
    const Span& planned = plane_.graph().fit.epochs;
    const bool known = planned.unit == Span::Unit::kEpochs && !path_.overfit && path_.name.starts_with("fit");
    return std::max<int64_t>(known ? planned.count : 1, epoch() + 1);
  }

  /// Those behind the loader, in order.
  [[nodiscard]] std::vector<std::string> batch_transforms() const {
    std::vector<std::string> names;
    for (std::string name = path_.data; name != path_.loader; name = plane_.graph().at(name).inputs.front()) {
      names.insert(names.begin(), name);
    }
    return names;
  }

  /// Each sample a batch, so that sizes may differ.
  [[nodiscard]] LoaderOptions loader_options() const {
    const core::LoaderParams params = loader_params(plane_.graph(), path_);
    LoaderOptions options;
    options.node = path_.loader;
    options.shuffle = params.shuffle;
    options.sampler =
        make_sampler(plane_.components(), path_, plane_.seed(), {.tolerate = true, .remark = request_.remark});
    options.bad_sample = core::BadSampleParams{core::BadSamplePolicy::kSkip, std::numeric_limits<int64_t>::max()};
    options.automatic = true;
    options.prefetch = kPrefetch;
    options.memory = params.memory.count;
    options.sample_timeout = sample_timeout(params);
    options.on_thread_start = take_one_core;
    options.keep = stream_;
    return options;
  }

  void take_samples(DataShown& shown) {
    try {
      Loader loader(*stream_, loader_options());
      try {
        take_samples(shown, loader);
      } catch (...) {
        end(loader);
        throw;
      }
      end(loader);
    } catch (const PlacedError&) {
      throw;
    } catch (const DataError& error) {
      throw PlacedError(core::diagnose(request_.resolved, place_of(plane_.graph(), path_, error), error));
    } catch (const Error& error) {
      throw PlacedError(core::diagnose(request_.resolved, plane_.graph().at(path_.loader), error));
    }
  }

  void take_samples(DataShown& shown, Loader& loader) {
    const int64_t count = std::min(request_.count, loader.batches());
    loader.start(epoch(), 0, epochs());
    while (static_cast<int64_t>(shown.samples.size()) < count) {
      while (!loader.wait(kTick)) {
      }
      ShownSample next = sample(loader.next().value());
      if (request_.reduce) request_.reduce(shown.fields, next);
      shown.samples.push_back(std::move(next));
    }
  }

  void end(Loader& loader) const {
    if (loader.end()) return;
    for (const core::Node* const stage : stages_) plane_.components().give_up(*stage);
  }

  /// What the transforms did to a field's scale, the last one first.
  [[nodiscard]] std::vector<Rescaling> rescalings_of(const FieldSpec& field) const {
    std::vector<Rescaling> all;
    if (field.dtype != Dtype::kFloat32 && field.dtype != Dtype::kFloat64) return all;
    for (std::size_t i = stages_.size(); i-- > 1;) {
      const core::Node& stage = *stages_[i];
      plane_.components().entering(stage.name, "rescaling", "cannot undo its scaling", [&] {
        void* const ability = plane_.components().component(stage.name).ability(Rescaled::kAbility);
        if (ability == nullptr) return;
        std::optional<Rescaling> rescaling = static_cast<Rescaled*>(ability)->rescaling(field.name);
        if (rescaling && !rescaling->scale.empty() && !rescaling->offset.empty()) all.push_back(*std::move(rescaling));
      });
    }
    return all;
  }

  [[nodiscard]] ShownSample sample(const Batch& batch) const {
    ShownSample sample;
    if (batch.samples == 0) {
      sample.index = batch.bad.front().sample;
      sample.failure = batch.bad.front().message;
      return sample;
    }
    sample.index = batch.sample_ids.front();
    for (std::size_t i = 0; i < batch.fields.size(); ++i) sample.values.push_back(value(i, batch.fields[i]));
    return sample;
  }

  [[nodiscard]] ShownValue value(std::size_t field, const BatchField& from) const {
    ShownValue value;
    value.shape.assign(from.shape.begin() + 1, from.shape.end());
    const auto* const bytes = static_cast<const std::byte*>(from.data);
    value.bytes.assign(bytes, bytes + static_cast<std::size_t>(elements(value.shape)) * size_of(from.dtype));
    const Array array{value.bytes.data(), from.dtype, value.shape};
    for (const Rescaling& rescaling : rescalings_[field]) {
      if (from.dtype == Dtype::kFloat32) undo(array.as<float>(), value.shape, rescaling);
      if (from.dtype == Dtype::kFloat64) undo(array.as<double>(), value.shape, rescaling);
    }
    return value;
  }

  const DataShowRequest& request_;
  DataPlane plane_;
  const core::Path& path_;
  std::vector<const core::Node*> stages_;
  std::shared_ptr<const Stream> stream_;
  std::vector<std::vector<Rescaling>> rescalings_;  // by field
};

}  // namespace

DataShown show_data(const DataShowRequest& request) { return Shower(request).show(); }

}  // namespace tenon::engine
