// Rows of outputs, in the order of the dataset.
#include <engine/predicting.hpp>

#include <array>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <engine/bad_samples.hpp>
#include <engine/class_names.hpp>
#include <engine/device.hpp>
#include <engine/loaded.hpp>
#include <engine/rescaling.hpp>
#include <engine/step_graph.hpp>
#include <engine/training.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::engine {
namespace {

using Form = core::PredictedOutput::Form;

/// `axis` is that of the classes.
at::Tensor in_form(const at::Tensor& value, Form form, int64_t axis) {
  switch (form) {
    case Form::kSoftmax: return at::softmax(value.to(at::kDouble), axis).to(value.scalar_type());
    case Form::kSigmoid: return at::sigmoid(value.to(at::kDouble)).to(value.scalar_type());
    // One logit alone is that of class 1 against class 0, as metric:accuracy has it.
    case Form::kArgmax:
      return value.size(axis) == 1 ? value.squeeze(axis).gt(0).to(at::kLong) : at::argmax(value, axis);
    case Form::kValue: break;
  }
  return value;
}

/// A row of a column.
FieldSpec row_of(const at::Tensor& column, const std::string& name) {
  FieldSpec field{name, dtype_of(column.scalar_type()), {}};
  for (const int64_t size : column.sizes().slice(1)) field.shape.emplace_back(size);
  return field;
}

/// Those that know the texts of classes, also where they stand on another path. Datasets need not be there.
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
        checkpoint_(core::read_checkpoint(request_.checkpoint)),
        loaded_(graph_, request_.resolved, request_.catalogue, std::array{&path_}, *checkpoint_,
                naming_transforms(graph_.predict->outputs)),
        components_(loaded_.components()) {
    for (const core::PredictedOutput& output : graph_.predict->outputs) {
      trained_names_.push_back(names_of_training(output));
    }
    tell_remarks(components_, std::array{&path_}, request_.remark);
    checkpoint_.reset();  // a run that goes on may remove it
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
    std::optional<std::vector<PredictedColumn>> described;
    feed_->start(0, 0, 1);
    while (std::optional<DeviceBatch> batch = feed_->next()) {
      if (batch->samples == 0) continue;
      const std::vector<int64_t> samples = std::move(batch->sample_ids);
      const Values values = graph.forward(std::move(batch->fields), alone_, 0, false, 0, generator);
      std::vector<at::Tensor> columns;
      for (const core::PredictedOutput& output : graph_.predict->outputs) {
        columns.push_back(column(output, values, static_cast<int64_t>(samples.size())));
      }
      if (!described) {
        described = describe_columns(columns);
        named_ = !feed_->stream().item_name(samples.front()).empty();
        sink.begin(*described, total_rows(), named_);
      }
      require_shapes(*described, columns, samples.front());
      rows += static_cast<int64_t>(samples.size());
      hand_over(samples, columns, sink);
    }
    tell_left_out(rows);
    return rows;
  }

 private:
  [[nodiscard]] at::Tensor column(const core::PredictedOutput& output, const Values& values, int64_t samples) const {
    const at::Tensor raw = values.find(output.source)->second.at(output.output);
    require_form(components_.resolved(), output, raw);
    at::Tensor value =
        in_form(undo_rescaling(components_, path_, "", output.name, raw), output.form, output.axis.value_or(-1));
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

  /// A column has one shape, as its files say at their head.
  void require_shapes(const std::vector<PredictedColumn>& described, const std::vector<at::Tensor>& columns,
                      int64_t first_sample) const {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const core::PredictedOutput& output = graph_.predict->outputs[i];
      const FieldSpec& before = described[i].field;
      const FieldSpec here = row_of(columns[i], output.name);
      if (here.dtype == before.dtype && here.shape == before.shape) continue;
      core::Diagnostic diagnostic = core::diagnose(
          components_.resolved(), output_pointer(components_.resolved(), output),
          Error(
              ErrorCode::kData,
              fmt::format("\"{}.{}\" gives rows of {}, but of {} in the batch of sample {}: all rows of an output have "
                          "one shape",
                          output.source, output.output, to_string(before), to_string(here), first_sample)));
      diagnostic.notes.push_back(
          fmt::format("\"pad\" of loader \"{}\" fills each batch up to its longest sample, or all of them up to \"to\"",
                      path_.loader));
      throw PlacedError(std::move(diagnostic));
    }
  }

  /// What has no row, as bad samples are tolerated. \throws PlacedError where nothing has.
  void tell_left_out(int64_t rows) {
    std::vector<std::string> told = feed_->take_messages();
    const std::string lost = describe_bad_samples(*feed_, "without a row", alone_);
    if (rows == 0) {
      throw PlacedError(core::diagnose(components_.resolved(), graph_.at(path_.loader).pointer + "/in",
                                       Error(ErrorCode::kData, "there is no row to predict: " + lost)));
    }
    if (!lost.empty()) told.push_back(lost);
    if (!request_.remark) return;
    for (const std::string& text : told) request_.remark(text);
  }

  [[nodiscard]] int64_t total_rows() const {
    int64_t rows = 0;
    for (int64_t batch = 0; batch < feed_->batches(); ++batch) rows += feed_->samples_of(batch);
    return rows;
  }

  /// Those of a score are what training knew, which the checkpoint tells where they are a dataset's.
  [[nodiscard]] std::optional<std::vector<std::string>> names_of_training(const core::PredictedOutput& output) const {
    if (output.categories.empty() || output.source == core::kBatch) return std::nullopt;
    if (graph_.at(output.categories).kind != "dataset") return std::nullopt;
    return class_names(*checkpoint_, output.categories, output.categories_field);
  }

  /// Those of a field are what it has here.
  [[nodiscard]] std::vector<std::string> categories_of(std::size_t place) const {
    const core::PredictedOutput& output = graph_.predict->outputs[place];
    if (output.categories.empty()) return {};
    if (trained_names_[place]) return *trained_names_[place];
    return class_names(components_, output.categories, output.categories_field).value_or(std::vector<std::string>());
  }

  [[nodiscard]] std::vector<PredictedColumn> describe_columns(const std::vector<at::Tensor>& columns) const {
    std::vector<PredictedColumn> described;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const core::PredictedOutput& output = graph_.predict->outputs[i];
      PredictedColumn column;
      column.field = row_of(columns[i], output.name);
      column.categories = categories_of(i);
      column.names_values = output.form == Form::kArgmax || !columns[i].is_floating_point();
      described.push_back(std::move(column));
    }
    return described;
  }

  void hand_over(std::span<const int64_t> samples, const std::vector<at::Tensor>& columns, PredictionSink& sink) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; named_ && i < samples.size(); ++i) {
      names.push_back(feed_->stream().item_name(samples[i]));
    }
    std::vector<Shape> shapes;
    std::vector<Array> arrays;
    shapes.reserve(columns.size());
    for (const at::Tensor& column : columns) {
      shapes.push_back(column.sizes().vec());
      arrays.push_back({column.data_ptr(), dtype_of(column.scalar_type()), shapes.back()});
    }
    sink.take(samples, names, arrays);
  }

  const PredictRequest request_;
  std::optional<SettingsInForce> settings_;  // while it is being opened
  const core::Graph& graph_;
  const core::Path& path_;
  std::optional<core::Checkpoint> checkpoint_;  // likewise
  OneRank alone_;
  Loaded loaded_;
  const Components& components_;
  std::vector<std::optional<std::vector<std::string>>> trained_names_;  // by output
  Feed* feed_ = nullptr;
  bool named_ = false;  // the dataset knows what its items are called
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
  const int64_t axis = output.axis.value_or(-1);
  const int64_t counted = axis < 0 ? axis + value.dim() : axis;
  if (of_classes && value.dim() < 2) {
    why = "takes an axis of classes behind that of the samples";
  } else if (of_classes && (counted < 1 || counted >= value.dim())) {
    why = fmt::format("cannot take axis {} as that of the classes: write one from 1 to {}", axis, value.dim() - 1);
  } else if (of_classes && value.dim() > 3 && !output.axis) {
    why = "cannot tell which axis is that of the classes: write \"axis\": 1 where it stands behind that of the samples";
  } else if (output.form == Form::kSoftmax && value.size(counted) == 1) {
    why = "of one value is always 1: write \"sigmoid\" for the probability of class 1";
  }
  if (why.empty()) return;
  FieldSpec field{{}, dtype_of(value.scalar_type()), {Dim("N")}};
  for (int64_t i = 1; i < value.dim(); ++i) field.shape.emplace_back(value.size(i));
  throw PlacedError(
      core::diagnose(resolved, output_pointer(resolved, output),
                     Error(ErrorCode::kConfig, fmt::format("\"{}.{}\" is {}, and {} {}", output.source, output.output,
                                                           to_string(field), core::name_of(output.form), why))));
}

void require_row(const core::Resolved& resolved, const core::PredictedOutput& output, const Feed& feed) {
  const auto is_list = [&](const Spec& fields) {
    const FieldSpec* const field = find(fields, output.output);
    return field != nullptr && !field->shape.empty() && !field->shape.front().fixed() &&
           field->shape.front().symbol.empty();
  };
  if (output.source != core::kBatch || !is_list(feed.loader_fields()) || !is_list(feed.fields())) return;
  core::Diagnostic diagnostic = resolved.error_at_value(
      output_pointer(resolved, output), "shape-mismatch",
      fmt::format("predict shows a row a sample, but \"batch.{}\" is {}, the lists of all samples one behind the other",
                  output.output, to_string(*find(feed.fields(), output.output))));
  diagnostic.label = fmt::format("\"pad\" of loader \"{}\" in the place of \"lists\"", feed.path().loader);
  throw PlacedError(std::move(diagnostic));
}

std::unique_ptr<OpenedPredictor> open_predictor(PredictRequest request) {
  return std::make_unique<Predictor>(std::move(request));
}

int64_t predict_rows(const PredictRequest& request, PredictionSink& sink) { return Predictor(request).predict(sink); }

}  // namespace tenon::engine
