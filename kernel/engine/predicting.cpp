// Rows of outputs, in the order of the loader.
#include <engine/predicting.hpp>

#include <array>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <engine/device.hpp>
#include <engine/loaded.hpp>
#include <engine/rescaling.hpp>
#include <engine/step_graph.hpp>
#include <engine/training.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

using Form = core::PredictedOutput::Form;

at::Tensor in_form(const at::Tensor& value, Form form) {
  switch (form) {
    case Form::kSoftmax: return at::softmax(value.to(at::kDouble), -1).to(value.scalar_type());
    case Form::kSigmoid: return at::sigmoid(value.to(at::kDouble)).to(value.scalar_type());
    // One logit alone is that of class 1 against class 0, as metric:accuracy has it.
    case Form::kArgmax: return value.size(-1) == 1 ? value.squeeze(-1).gt(0).to(at::kLong) : at::argmax(value, -1);
    case Form::kValue: break;
  }
  return value;
}

/// Those that know the texts of classes, also where they stand on another path.
std::vector<std::string> naming_transforms(const std::vector<core::PredictedOutput>& outputs) {
  std::vector<std::string> transforms;
  for (const core::PredictedOutput& output : outputs) {
    if (!output.categories.empty()) transforms.push_back(output.categories);
  }
  return transforms;
}

class Predictor final : public OpenedPredictor {
 public:
  explicit Predictor(PredictRequest request)
      : request_(std::move(request)),
        settings_(std::in_place, request_.graph.run),
        graph_(request_.graph),
        path_(graph_.predict.value().path),
        loaded_(graph_, request_.resolved, request_.catalogue, std::array{&path_},
                core::read_checkpoint(request_.checkpoint), naming_transforms(graph_.predict->outputs)),
        components_(loaded_.components()) {
    tell_remarks(components_, std::array{&path_}, request_.remark);
    settings_.reset();
  }

  int64_t predict(PredictionSink& sink) override {
    const SettingsInForce settings(graph_.run);
    static_cast<void>(prepare_device(graph_, request_.resolved));
    const c10::NoGradGuard no_grad;
    feed_ = &loaded_.connect(0, alone_);  // with as many rows as there are now
    const StepGraph graph(components_, path_, &loaded_.precision());
    const at::Generator generator = make_generator(loaded_.device());
    int64_t rows = 0;
    feed_->start(0, 0, 1);
    while (std::optional<DeviceBatch> batch = feed_->next()) {
      const std::vector<int64_t> samples = std::move(batch->sample_ids);
      const Values values = graph.forward(std::move(batch->fields), alone_, 0, false, 0, generator);
      std::vector<at::Tensor> columns;
      for (const core::PredictedOutput& output : graph_.predict->outputs) {
        columns.push_back(column(output, values, static_cast<int64_t>(samples.size())));
      }
      if (rows == 0) sink.begin(describe_columns(columns), total_rows());
      rows += static_cast<int64_t>(samples.size());
      hand_over(samples, columns, sink);
    }
    return rows;
  }

 private:
  [[nodiscard]] at::Tensor column(const core::PredictedOutput& output, const Values& values, int64_t samples) const {
    const at::Tensor raw = values.find(output.source)->second.at(output.output);
    require_form(components_.resolved(), output, raw);
    at::Tensor value = in_form(undo_rescaling(components_, path_, "", output.name, raw), output.form);
    if (value.dim() == 0 || value.size(0) != samples) {
      throw PlacedError(
          core::diagnose(components_.resolved(), output_pointer(components_.resolved(), output),
                         Error(ErrorCode::kConfig,
                               fmt::format("\"{}.{}\" is {} for a batch of {} samples, and does not give one row a "
                                           "sample",
                                           output.source, output.output, describe(raw), samples))));
    }
    const bool narrow = value.scalar_type() == at::kHalf || value.scalar_type() == at::kBFloat16;
    return (narrow ? value.to(at::kFloat) : value).cpu().contiguous();
  }

  [[nodiscard]] int64_t total_rows() const {
    int64_t rows = 0;
    for (int64_t batch = 0; batch < feed_->batches(); ++batch) rows += feed_->samples_of(batch);
    return rows;
  }

  [[nodiscard]] std::vector<std::string> categories_of(const core::PredictedOutput& output) const {
    if (output.categories.empty()) return {};
    return components_.entering(output.categories, "categories", "cannot tell its categories", [&] {
      void* const ability = components_.component(output.categories).ability(Categorical::kAbility);
      if (ability == nullptr) return std::vector<std::string>();
      return static_cast<Categorical*>(ability)
          ->categories(output.categories_field)
          .value_or(std::vector<std::string>());
    });
  }

  [[nodiscard]] std::vector<PredictedColumn> describe_columns(const std::vector<at::Tensor>& columns) const {
    std::vector<PredictedColumn> described;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const core::PredictedOutput& output = graph_.predict->outputs[i];
      PredictedColumn column;
      column.field = {output.name, dtype_of(columns[i].scalar_type()), {}};
      for (const int64_t size : columns[i].sizes().slice(1)) column.field.shape.emplace_back(size);
      column.categories = categories_of(output);
      column.names_values = output.form == Form::kArgmax || !columns[i].is_floating_point();
      described.push_back(std::move(column));
    }
    return described;
  }

  static void hand_over(std::span<const int64_t> samples, const std::vector<at::Tensor>& columns,
                        PredictionSink& sink) {
    std::vector<Shape> shapes;
    std::vector<Array> arrays;
    shapes.reserve(columns.size());
    for (const at::Tensor& column : columns) {
      shapes.push_back(column.sizes().vec());
      arrays.push_back({column.data_ptr(), dtype_of(column.scalar_type()), shapes.back()});
    }
    sink.take(samples, arrays);
  }

  const PredictRequest request_;
  std::optional<SettingsInForce> settings_;  // while it is being opened
  const core::Graph& graph_;
  const core::Path& path_;
  OneRank alone_;
  Loaded loaded_;
  const Components& components_;
  Feed* feed_ = nullptr;
};

}  // namespace

std::string output_pointer(const core::Resolved& resolved, const core::PredictedOutput& output) {
  std::string outputs = "/predict/outputs";
  const auto source_of = [](const std::string& pointer, const core::Json& value) {
    return value.is_object() ? pointer + "/from" : pointer;
  };
  const core::Json* const all = resolved.find(outputs);
  if (all == nullptr) return outputs;
  if (all->is_object() && all->contains(output.name)) {
    return source_of(core::child_pointer(outputs, output.name), all->at(output.name));
  }
  for (std::size_t i = 0; all->is_array() && i < all->size(); ++i) {
    const core::Json& each = (*all)[i];
    if (each == output.name || (each.is_object() && each.value("name", "") == output.name)) {
      return source_of(core::child_pointer(outputs, i), each);
    }
  }
  return outputs;
}

void require_form(const core::Resolved& resolved, const core::PredictedOutput& output, const at::Tensor& value) {
  const bool of_classes = output.form == Form::kSoftmax || output.form == Form::kArgmax;
  std::string why;
  if (of_classes && value.dim() < 2) {
    why = "takes an axis of classes behind that of the samples";
  } else if (output.form == Form::kSoftmax && value.size(-1) == 1) {
    why = "of one value is always 1: write \"sigmoid\" for the probability of class 1";
  }
  if (why.empty()) return;
  FieldSpec field{{}, dtype_of(value.scalar_type()), {Dim("N")}};
  for (int64_t axis = 1; axis < value.dim(); ++axis) field.shape.emplace_back(value.size(axis));
  throw PlacedError(
      core::diagnose(resolved, output_pointer(resolved, output),
                     Error(ErrorCode::kConfig, fmt::format("\"{}.{}\" is {}, and {} {}", output.source, output.output,
                                                           to_string(field), core::name_of(output.form), why))));
}

std::unique_ptr<OpenedPredictor> open_predictor(PredictRequest request) {
  return std::make_unique<Predictor>(std::move(request));
}

int64_t predict_rows(const PredictRequest& request, PredictionSink& sink) { return Predictor(request).predict(sink); }

}  // namespace tenon::engine
