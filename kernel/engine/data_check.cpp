// From paths of the graph to surveys, and from surveys to a report.
#include <engine/data_check.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <engine/data/check/duplicates.hpp>
#include <engine/data/check/findings.hpp>
#include <engine/data/check/survey.hpp>
#include <engine/data/machine.hpp>
#include <engine/data_fields.hpp>
#include <engine/data_plane.hpp>
#include <engine/data_targets.hpp>
#include <engine/engine.hpp>
#include <engine/sampling.hpp>
#include <engine/streams.hpp>

namespace tenon::engine {
namespace {

constexpr std::size_t kExamples = 5;       // pairs of equal samples
constexpr std::size_t kMostUnasked = 256;  // classes of a field that nothing takes for classes

/// The hashes of a part that was read.
struct Hashes {
  std::vector<int64_t> samples;
  std::vector<uint64_t> hashes;
};

/// A stream as far as it gives one outcome for a sample.
struct Chain {
  std::vector<const core::Node*> stages;  ///< The dataset first.
  std::vector<std::string> left_out;
  std::string cut;
};

/// Fields that make a sample what it is: all but integers that label or number it, unless there is nothing else.
std::vector<std::size_t> fields_to_hash(const Spec& fields) {
  std::vector<std::size_t> content;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    all.push_back(i);
    if (!plan_for(fields[i]).classes) content.push_back(i);
  }
  return content.empty() ? all : content;
}

/// What an image's values are divided by, so that they are from 0 to 1; 1 where they are no levels. A normalising transform
/// takes int32 for images of 16 bits.
int64_t largest_level(Dtype dtype, bool normalised) {
  if (dtype == Dtype::kUint8) return 255;
  return dtype == Dtype::kInt32 && normalised ? 65535 : 1;
}

class Checker {
 public:
  explicit Checker(const DataCheckRequest& request)
      : request_(request), plane_(request.graph, request.resolved, request.catalogue) {}

  DataReport check() {
    const std::vector<const core::Path*> paths = chosen();
    DataPlane::Outcome opened = plane_.open(paths, request_.remark);
    unlearned_ = std::move(opened.unlearned);
    DataReport report;
    std::vector<Hashes> hashes;
    for (const core::Path* const path : paths) {
      if (path->name == "predict" && !opened.missing.empty()) continue;
      report.parts.push_back(read(*path, hashes));
    }
    compare(report, hashes);
    report.findings = judge(report);
    const auto note = [&](const char* code, const char* path, std::string message) {
      report.findings.push_back({core::Severity::kNote, code, {path}, "", "", std::move(message)});
    };
    if (!unlearned_.empty()) {
      note("not-learned", "fit",
           "nothing behind transforms that learn was looked at, since they could not: " + unlearned_);
    }
    if (!opened.missing.empty()) note("not-read", "predict", "the data of \"predict\" was not read: " + opened.missing);
    return report;
  }

 private:
  [[nodiscard]] std::vector<const core::Path*> chosen() const {
    std::vector<const core::Path*> paths;
    for (const core::Path* const path : plane_.graph().streams()) {
      if (std::find(request_.paths.begin(), request_.paths.end(), path->name) != request_.paths.end()) {
        paths.push_back(path);
      }
    }
    return paths;
  }

  /// What is looked at of a path. Everything in it has told its fields once already, with its place in errors.
  [[nodiscard]] Chain chain_of(const core::Path& path) const {
    const std::vector<const core::Node*> stages = stages_of(plane_.graph(), path);
    Chain whole;
    Chain before;
    for (const core::Node* const stage : stages) {
      if (stage->kind == "transform" && is_fitted(*stage) && !unlearned_.empty()) {
        whole.cut = stage->name;
        break;
      }
      if (stage->kind == "transform" && is_random(*stage)) {
        whole.left_out.push_back(stage->name);
      } else {
        whole.stages.push_back(stage);
        if (whole.left_out.empty()) before.stages.push_back(stage);
      }
    }
    if (whole.left_out.empty()) return whole;
    try {
      const Stream possible = stream_of(whole);
      return whole;
    } catch (const Error&) {  // such as a field that the random transform would have added
      before.cut = whole.left_out.front();
      return before;
    }
  }

  [[nodiscard]] Stream stream_of(const Chain& chain) const {
    return {plane_.dataset(*chain.stages.front()), transforms_of(chain), plane_.seed()};
  }

  [[nodiscard]] std::vector<TransformNode> transforms_of(const Chain& chain) const {
    std::vector<TransformNode> transforms;
    for (const core::Node* const stage : std::span(chain.stages).subspan(1)) {
      transforms.push_back(plane_.transform(*stage));
    }
    return transforms;
  }

  /// In front of the transform that normalises the field, else at the end: how many transforms lie before.
  static std::size_t scale_point(const Chain& chain, const std::string& field, std::string& node) {
    for (std::size_t i = 1; i < chain.stages.size(); ++i) {
      const core::Json& with = chain.stages[i]->with;
      const bool normalises = with.is_object() && with.contains("mean") && with.contains("std");
      if (!normalises || with.value("field", core::Json("image")) != field) continue;
      node = chain.stages[i]->name;
      return i - 1;
    }
    return chain.stages.size() - 1;
  }

  /// The last place where a class is a number, before a transform such as one_hot makes shares of the classes of it: how
  /// many transforms lie before.
  static std::optional<std::size_t> label_place(const Stream& stream, const std::string& field) {
    for (int64_t place = stream.transforms(); place >= 0; --place) {
      const FieldSpec* const spec = find(stream.fields_after(static_cast<int>(place)), field);
      if (spec != nullptr && plan_for(*spec).classes) return static_cast<std::size_t>(place);
    }
    return std::nullopt;
  }

  struct Plan {
    SurveyRequest request;
    std::map<std::string, std::size_t> labels;  ///< Of training, that are shares at the end: places of their numbers.
    std::vector<DataScale> scales;              ///< Without numbers.
    std::vector<std::size_t> scale_points;      ///< Where each is found: position in request.points.
  };

  [[nodiscard]] Plan plan(const core::Path& path, const Chain& chain, const DataPart& part) const {
    const Stream stream = stream_of(chain);
    const std::size_t end = chain.stages.size() - 1;
    Plan plan;
    std::set<std::size_t> places{0, end};
    std::vector<std::size_t> scale_places;
    if (trains(path.name)) {
      for (const std::string& field : model_inputs(request_.graph, path)) {
        DataScale scale;
        scale.field = field;
        const std::size_t place = scale_point(chain, field, scale.node);
        const FieldSpec* const spec = find(stream.fields_after(static_cast<int>(place)), field);
        if (spec == nullptr || plan_for(*spec).per != FieldPlan::Per::kChannel) continue;
        scale.unit = largest_level(spec->dtype, !scale.node.empty());
        plan.scales.push_back(std::move(scale));
        scale_places.push_back(place);
        places.insert(place);
      }
      for (const DataTarget& target : part.targets) {
        const std::optional<std::size_t> place = label_place(stream, target.field);
        if (!target.numbers_classes || !place || *place == end) continue;
        plan.labels.emplace(target.field, *place);
        places.insert(*place);
      }
    }
    SurveyRequest& request = plan.request;
    for (const std::size_t place : places) {
      SurveyPoint& point = request.points.emplace_back();
      point.transforms = place;
      for (const FieldSpec& field : stream.fields_after(static_cast<int>(place))) {
        FieldPlan& looked = point.fields.emplace_back(plan_for(field));
        const auto label = plan.labels.find(field.name);
        if (label != plan.labels.end() && label->second == place) continue;
        if (place != end) looked.classes = false;
        if (place != 0 && place != end && looked.per != FieldPlan::Per::kChannel) looked = {};
        if (place == end && label == plan.labels.end() && is_classes(part, field)) looked.classes = true;
      }
    }
    for (const std::size_t place : scale_places) {
      plan.scale_points.push_back(static_cast<std::size_t>(std::distance(places.begin(), places.find(place))));
    }
    request.dataset = plane_.dataset(*chain.stages.front());
    request.transforms = transforms_of(chain);
    request.seed = plane_.seed();
    request.hashed = fields_to_hash(stream.fields_after(0));
    request.most = request_.most;
    request.threads = request_.threads > 0 ? request_.threads : usable_cores();
    request.on_thread_start = take_one_core;
    request.sample_timeout = sample_timeout(loader_params(plane_.graph(), path));
    request.give_up = [this, stages = chain.stages] {
      for (const core::Node* const stage : stages) plane_.components().give_up(*stage);
    };
    if (request_.progress) {
      request.progress = [this, name = path.name](int64_t done, int64_t total) {
        request_.progress(name, done, total);
      };
    }
    return plan;
  }

  static bool is_classes(const DataPart& part, const FieldSpec& field) {
    return std::any_of(part.targets.begin(), part.targets.end(),
                       [&](const DataTarget& target) { return target.numbers_classes && target.field == field.name; });
  }

  /// What its own losses and metrics say of a field, else those of training, whose batches have the same fields. Of a
  /// field that a loss of training reads as shares of the classes, made of a number before, what measures tells them.
  [[nodiscard]] std::vector<DataTarget> targets_for(const core::Path& path, const Stream& stream) const {
    std::vector<DataTarget> targets = targets_of(request_.graph, path);
    const auto add = [&](DataTarget target) {
      const bool known = std::any_of(targets.begin(), targets.end(),
                                     [&](const DataTarget& each) { return each.field == target.field; });
      if (!known) targets.push_back(std::move(target));
    };
    const std::set<std::string> compared = loss_inputs(request_.graph, path);
    const auto shared_out = [&](const DataTarget& target) {
      return target.numbers_classes && compared.contains(target.field) && label_place(stream, target.field);
    };
    for (const core::Path* const other : request_.graph.paths()) {
      const bool measured = measures(path.name) && trains(other->name);
      const bool trained = trains(path.name) && measures(other->name);
      if (!measured && !trained) continue;
      for (DataTarget& target : targets_of(request_.graph, *other)) {
        if (measured || shared_out(target)) add(std::move(target));
      }
    }
    return targets;
  }

  DataPart read(const core::Path& path, std::vector<Hashes>& hashes) {
    const Stream real = make_stream(plane_.components(), stages_of(plane_.graph(), path), plane_.seed());
    const Chain chain = chain_of(path);
    DataPart part;
    part.path = path.name;
    part.dataset = chain.stages.front()->name;
    part.component = chain.stages.front()->use();
    part.left_out = chain.left_out;
    part.cut = chain.cut;
    part.targets = targets_for(path, stream_of(chain));
    if (const auto bad_sample = loader_params(plane_.graph(), path).bad_sample) part.tolerated = bad_sample->max;
    const Plan planned = plan(path, chain, part);
    Survey found = surveyed(planned.request, path);
    part.size = found.size;
    part.read = static_cast<int64_t>(found.samples.size());
    for (FailedSample& each : found.failed) {
      part.failures.push_back({each.index, std::move(each.node), std::move(each.message)});
    }
    describe(chain, planned, found, part);
    for (std::size_t i = 0; i < planned.scales.size(); ++i) {
      part.scales.push_back(planned.scales[i]);
      fill(part.scales.back(), found.points[planned.scale_points[i]]);
    }
    part.unbatchable = unbatchable(path, real.fields(), part);
    hashes.push_back({std::move(found.samples), std::move(found.hashes)});
    return part;
  }

  [[nodiscard]] Survey surveyed(const SurveyRequest& request, const core::Path& path) const {
    try {
      return survey(request);
    } catch (const DataError& error) {
      throw PlacedError(core::diagnose(request_.resolved, place_of(plane_.graph(), path, error), error));
    }
  }

  void describe(const Chain& chain, const Plan& planned, const Survey& found, DataPart& part) const {
    for (const FieldSurvey& field : found.points.front()) {
      part.stored.push_back(field_of(field, plane_.columns(*chain.stages.front(), field.field().name), {}));
    }
    for (const FieldSurvey& last : found.points.back()) {
      const auto label = planned.labels.find(last.field().name);
      const bool shares = label != planned.labels.end();
      const FieldSurvey& field = shares ? survey_at(planned, found, label->second, label->first) : last;
      const core::Node& knowing = *chain.stages[shares ? label->second : chain.stages.size() - 1];
      const bool changed = found.points.size() > 1;
      const FieldSurvey* const stored = same_field(found.points.front(), field.field());
      std::vector<std::string> names;
      if (!changed || stored != nullptr) names = plane_.columns(*chain.stages.front(), field.field().name);
      const bool classes =
          !field.classes().empty() && (is_classes(part, field.field()) || field.classes().size() <= kMostUnasked);
      part.seen.push_back(field_of(
          field, names, classes ? plane_.categories(knowing, field.field().name) : std::vector<std::string>()));
      if (!classes) part.seen.back().classes.clear();
    }
  }

  /// A field behind so many transforms, where it was looked at.
  static const FieldSurvey& survey_at(const Plan& planned, const Survey& found, std::size_t place,
                                      const std::string& name) {
    const std::vector<SurveyPoint>& points = planned.request.points;
    const auto point = std::ranges::find(points, place, &SurveyPoint::transforms);
    const std::vector<FieldSurvey>& fields = found.points[static_cast<std::size_t>(point - points.begin())];
    return *std::ranges::find(fields, name, [](const FieldSurvey& each) { return each.field().name; });
  }

  /// A field that went through the stream in its shape, so that its elements still have their names.
  static const FieldSurvey* same_field(const std::vector<FieldSurvey>& fields, const FieldSpec& field) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const FieldSurvey& each) {
      return each.field().name == field.name && each.field().shape == field.shape;
    });
    return found == fields.end() ? nullptr : &*found;
  }

  static void fill(DataScale& scale, const std::vector<FieldSurvey>& fields) {
    for (const FieldSurvey& field : fields) {
      if (field.field().name != scale.field) continue;
      const auto unit = static_cast<double>(scale.unit);
      for (const Moments& channel : field.moments()) {
        scale.mean.push_back(channel.mean / unit);
        scale.deviation.push_back(channel.deviation() / unit);
      }
    }
  }

  /// Fields that are free at the loader, come in several shapes, and are neither padded nor listed.
  [[nodiscard]] std::vector<std::string> unbatchable(const core::Path& path, const Spec& fields,
                                                     const DataPart& part) const {
    const core::LoaderParams params = loader_params(plane_.graph(), path);
    std::vector<std::string> names;
    for (const FieldSpec& field : fields) {
      const bool free =
          std::any_of(field.shape.begin(), field.shape.end(), [](const Dim& dim) { return !dim.fixed(); });
      const bool cared_for = std::find(params.lists.begin(), params.lists.end(), field.name) != params.lists.end() ||
                             std::any_of(params.pad.begin(), params.pad.end(),
                                         [&](const core::PadParams& pad) { return pad.field == field.name; });
      if (!free || cared_for || params.batch == 1) continue;
      const bool differ = std::any_of(part.seen.begin(), part.seen.end(), [&](const DataField& seen) {
        return seen.field.name == field.name && seen.sizes && seen.sizes->different > 1;
      });
      if (differ) names.push_back(field.name);
    }
    return names;
  }

  /// Within each part; then training with what measures, and validations with the test.
  static void compare(DataReport& report, const std::vector<Hashes>& hashes) {
    const auto view = [&](std::size_t i) { return HashedSamples{hashes[i].samples, hashes[i].hashes}; };
    const auto add = [&](std::size_t part, std::size_t other, const SameSamples& same) {
      if (same.count == 0) return;
      DataDuplicates& each = report.duplicates.emplace_back();
      each.path = report.parts[part].path;
      each.other = report.parts[other].path;
      each.count = same.count;
      for (const SamePair& pair : same.examples) each.examples.push_back({pair.index, pair.first});
    };
    for (std::size_t i = 0; i < hashes.size(); ++i) add(i, i, repeated(view(i), kExamples));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const std::string& path = report.parts[i].path;
      if (!measures(path)) continue;
      for (std::size_t other = 0; other < hashes.size(); ++other) {
        const std::string& with = report.parts[other].path;
        if (trains(with) || (path == "test" && measures(with) && with != path)) {
          if (report.parts[other].dataset == report.parts[i].dataset && !trains(with)) continue;
          add(i, other, shared(view(i), view(other), kExamples));
        }
      }
    }
  }

  const DataCheckRequest& request_;
  DataPlane plane_;
  std::string unlearned_;
};

}  // namespace

DataReport check_data(const DataCheckRequest& request) { return Checker(request).check(); }

}  // namespace tenon::engine
