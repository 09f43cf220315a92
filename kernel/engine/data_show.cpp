// The loader's order, the stream's samples, and scales undone.
#include <engine/data_show.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <core/plugin/builtin.hpp>
#include <core/storage/canonical_json.hpp>
#include <engine/data/kept_sample.hpp>
#include <engine/data/scan.hpp>
#include <engine/data_plane.hpp>
#include <engine/engine.hpp>
#include <engine/streams.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

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
        stream_(make_stream(plane_.components(), stages_, plane_.seed())) {}

  DataShown show() {
    const DataPlane::Outcome opened = plane_.open(std::vector{&path_}, request_.remark);
    if (!opened.unlearned.empty()) throw Error(ErrorCode::kData, opened.unlearned);
    DataShown shown;
    shown.dataset = stages_.front()->name;
    shown.size = stream_.size();
    for (const FieldSpec& field : stream_.fields()) {
      shown.fields.push_back(
          {field, plane_.categories(*stages_.back(), field.name), plane_.columns(*stages_.front(), field.name)});
      rescalings_.push_back(rescalings_of(field));
    }
    const EpochOrder order = sampler().epoch(epoch());
    const int64_t count = std::min(request_.count, order.size());
    KeptSample kept(stream_.fields());
    Workspace workspace;
    for (int64_t position = 0; position < count; ++position) {
      const SampleKey key{order[position], epoch(), epochs(), order.occurrence(position)};
      shown.samples.push_back(sample(key, kept, workspace));
    }
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

  [[nodiscard]] Sampler sampler() const {
    const core::Node& loader = plane_.graph().at(path_.loader);
    const auto params = parse_params<core::LoaderParams>(core::line_text(loader.with));
    OrderOptions options{.items = stream_.size(),
                         .shuffle = params.shuffle,
                         .sampler = params.sampler,
                         .buckets = params.buckets,
                         .batch = params.batch,
                         .seed = plane_.seed(),
                         .node = loader.name};
    try {
      const Stream dataset(plane_.dataset(*stages_.front()), {}, plane_.seed());
      const auto* const index =
          static_cast<const Columns*>(plane_.components().component(stages_.front()->name).ability(Columns::kAbility));
      ScanOptions scan;
      scan.tolerate = true;
      OrderColumns columns = order_columns(dataset, index, options, scan);
      return {std::move(options), std::move(columns)};
    } catch (const Error& error) {
      throw PlacedError(core::diagnose(request_.resolved, loader, error));
    }
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

  ShownSample sample(const SampleKey& key, KeptSample& kept, Workspace& workspace) const {
    ShownSample sample;
    sample.index = key.index;
    try {
      stream_.run(key, kept, workspace);
    } catch (const DataError& error) {
      sample.failure = error.what();
      return sample;
    }
    for (std::size_t i = 0; i < kept.values().size(); ++i) sample.values.push_back(value(i, kept.values()[i]));
    return sample;
  }

  [[nodiscard]] ShownValue value(std::size_t field, const Value& from) const {
    const Dtype dtype = stream_.fields()[field].dtype;
    ShownValue value;
    value.shape.assign(from.shape.begin(), from.shape.end());
    const auto* const bytes = static_cast<const std::byte*>(from.data);
    value.bytes.assign(bytes, bytes + static_cast<std::size_t>(elements(from.shape)) * size_of(dtype));
    const Array array{value.bytes.data(), dtype, value.shape};
    for (const Rescaling& rescaling : rescalings_[field]) {
      if (dtype == Dtype::kFloat32) undo(array.as<float>(), value.shape, rescaling);
      if (dtype == Dtype::kFloat64) undo(array.as<double>(), value.shape, rescaling);
    }
    return value;
  }

  const DataShowRequest& request_;
  DataPlane plane_;
  const core::Path& path_;
  std::vector<const core::Node*> stages_;
  Stream stream_;
  std::vector<std::vector<Rescaling>> rescalings_;  // by field
};

}  // namespace

DataShown show_data(const DataShowRequest& request) { return Shower(request).show(); }

}  // namespace tenon::engine
