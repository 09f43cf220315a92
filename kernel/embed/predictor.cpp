// A pipeline whose "predict" reads rows from memory, opened for good.
#include <tenon/kernel/predictor.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/plugin/builtin.hpp>
#include <core/storage/run_checkpoint.hpp>
#include <embed/content.hpp>
#include <embed/errors.hpp>
#include <embed/opening.hpp>
#include <embed/rows_dataset.hpp>
#include <embed/worker.hpp>

namespace tenon::kernel {
namespace {

/// Settings that give "predict" a stream of its own: the rows, then the same transforms, then a loader that takes as
/// many at a time. Nothing that other paths read is touched.
std::vector<std::string> stream_from_memory(const core::Resolved& resolved) {
  const core::Json* const data = resolved.find("/predict/data");
  if (data == nullptr || !data->is_string()) {
    throw tenon::Error(
        ErrorCode::kConfig,
        "the pipeline of this run has no section \"predict\": add one by PredictorOptions::sets, such as "
        "predict={\"data\":\"LOADER\",\"outputs\":[\"net.logits\"]}");
  }
  std::vector<std::string> behind;  // nodes from the loader back to the dataset
  for (std::string name = data->get<std::string>();;) {
    const core::Json* const node = resolved.find(core::child_pointer("/nodes", name));
    if (node == nullptr || std::ranges::find(behind, name) != behind.end()) break;
    if (node->value("use", "").starts_with("dataset:")) break;
    behind.push_back(name);
    const core::Json* in = core::find_member(*node, "in");
    if (in != nullptr && in->is_array() && !in->empty()) in = &in->front();
    if (in == nullptr || !in->is_string()) break;
    name = in->get<std::string>();
  }
  std::vector<std::string> sets{fmt::format(R"(+nodes.memory_rows={{"use":"{}"}})", kRowsDataset)};
  std::string before = "memory_rows";
  for (std::size_t i = behind.size(); i-- > 0;) {
    const core::Json& node = *resolved.find(core::child_pointer("/nodes", behind[i]));
    core::Json copy{{"in", before}};
    if (i == 0) {
      copy["use"] = node.value("use", "");
      copy["with"] = node.value("with", core::Json::object());
      // Each row comes once, and one that cannot be made is an error: there is nobody else to tell.
      for (const char* const name : core::kOrderParams) copy["with"].erase(name);
      copy["with"].erase("bad_sample");
      copy["with"]["workers"] = 0;
    } else {
      copy["call"] = node.value("call", behind[i]);
    }
    before = fmt::format("memory_{}", i);
    sets.push_back(fmt::format("+nodes.{}={}", before, copy.dump()));
  }
  sets.push_back(fmt::format(R"(predict.data="{}")", before));
  return sets;
}

/// The pipeline of a checkpoint, over rows in memory.
std::shared_ptr<const Pipeline::Content> read_pipeline_of(const core::RunCheckpoint& place,
                                                          const PredictorOptions& options,
                                                          const core::Catalogue& catalogue) {
  std::vector<std::string> sets = core::sets_without_first_values(place);
  sets.insert(sets.end(), options.sets.begin(), options.sets.end());
  const core::ResolveRequest before = resolve_request(place.config(), options.overlays, sets, catalogue);
  core::Diagnostics findings;
  const core::Resolved resolved = core::resolve(before, findings);
  require_no_error(findings, "nothing was predicted");
  for (std::string& set : stream_from_memory(resolved)) sets.push_back(std::move(set));
  // Nodes that only the run's own data needed may be without use now.
  return read_pipeline(resolve_request(place.config(), options.overlays, sets, catalogue), catalogue,
                       {.first_values = false, .all_used = false}, "nothing was predicted");
}

/// Puts the rows that the engine hands over in the order in which they were given.
class Collector final : public engine::PredictionSink {
 public:
  explicit Collector(Predictions& into) : into_(into) {}

  void begin(const std::vector<engine::PredictedColumn>& columns, int64_t rows, bool /*named*/) override {
    into_.rows = rows;
    for (const engine::PredictedColumn& column : columns) {
      PredictedColumn& made = into_.columns.emplace_back();
      made.name = column.field.name;
      made.dtype = column.field.dtype;
      made.shape.push_back(rows);
      for (const Dim& dim : column.field.shape) made.shape.push_back(dim.size);
      made.categories = column.categories;
      made.bytes.resize(static_cast<std::size_t>(elements(made.shape)) * size_of(made.dtype));
    }
  }

  void take(std::span<const int64_t> samples, std::span<const std::string> /*names*/,
            std::span<const Array> columns) override {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      PredictedColumn& column = into_.columns[i];
      const std::size_t row = column.bytes.size() / static_cast<std::size_t>(into_.rows);
      const auto* const from = static_cast<const std::byte*>(columns[i].data);
      for (std::size_t k = 0; k < samples.size(); ++k) {
        std::memcpy(column.bytes.data() + static_cast<std::size_t>(samples[k]) * row, from + k * row, row);
      }
    }
  }

 private:
  Predictions& into_;
};

}  // namespace

class Predictor::Content {
 public:
  Content(const std::filesystem::path& place, const PredictorOptions& options,
          std::shared_ptr<Runtime::Content> runtime)
      : place_(core::find_run_checkpoint(place.string())), runtime_(std::move(runtime)) {
    rows_->fields = options.fields;
    rows_->data.resize(options.fields.size());
    rows_->row_shapes.resize(options.fields.size());
    const core::Catalogue catalogue = with_linked(runtime_->catalogue(), {rows_plugin(rows_)});
    const std::shared_ptr<const Pipeline::Content> pipeline = read_pipeline_of(place_, options, catalogue);
    worker_.run([&] {
      engine::PredictRequest request{.graph = pipeline->graph,
                                     .resolved = pipeline->resolved,
                                     .catalogue = catalogue,
                                     .checkpoint = place_.checkpoint};
      request.graph.stop.clear();
      request.graph.observe.clear();
      const OpenedEngine opened = open_engine(request.graph, request.resolved, catalogue, runtime_->options());
      predictor_ = opened.engine->open_predictor(std::move(request));
    });
  }

  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  ~Content() {
    worker_.run([&] { predictor_.reset(); });
  }

  [[nodiscard]] const std::filesystem::path& checkpoint() const noexcept { return place_.checkpoint; }

  Predictions predict(std::span<const Column> columns) {
    const std::lock_guard lock(mutex_);
    take(columns);
    Predictions predictions;
    Collector collector(predictions);
    worker_.run([&] { predictor_->predict(collector); });
    return predictions;
  }

 private:
  /// Notes where the rows lie. \throws tenon::Error.
  void take(std::span<const Column> columns) {
    std::optional<int64_t> count;
    for (std::size_t i = 0; i < rows_->fields.size(); ++i) {
      const FieldSpec& field = rows_->fields[i];
      const auto column = std::ranges::find(columns, field.name, &Column::name);
      if (column == columns.end() || columns.size() != rows_->fields.size()) throw wrong_columns(columns);
      const int64_t rows = rows_of(*column, field);
      if (count.value_or(rows) != rows) {
        throw tenon::Error(ErrorCode::kConfig, fmt::format("\"{}\" has {} rows, and \"{}\" has {}", field.name, rows,
                                                           rows_->fields.front().name, *count));
      }
      count = rows;
      rows_->data[i] = static_cast<const std::byte*>(column->data);
      rows_->row_shapes[i] = column->row_shape;
    }
    if (count.value_or(0) == 0) throw tenon::Error(ErrorCode::kData, "there is no row to predict");
    rows_->count = *count;
  }

  [[nodiscard]] tenon::Error wrong_columns(std::span<const Column> columns) const {
    const auto names = [](const auto& all) {
      std::vector<std::string> found;
      found.reserve(all.size());
      for (const auto& each : all) found.push_back(each.name);
      return fmt::format("{}", fmt::join(found, ", "));
    };
    return {ErrorCode::kConfig, fmt::format("the columns are {}, and the fields that were declared {}", names(columns),
                                            names(rows_->fields))};
  }

  static int64_t rows_of(const Column& column, const FieldSpec& field) {
    const FieldSpec given{column.name, column.dtype, {column.row_shape.begin(), column.row_shape.end()}};
    bool fits = column.dtype == field.dtype && column.row_shape.size() == field.shape.size();
    for (std::size_t axis = 0; fits && axis < field.shape.size(); ++axis) {
      fits = column.row_shape[axis] >= 0 && (!field.shape[axis].fixed() || field.shape[axis] == given.shape[axis]);
    }
    if (!fits) {
      throw tenon::Error(ErrorCode::kConfig, fmt::format("a row of \"{}\" is {}, and was declared as {}", column.name,
                                                         to_string(given), to_string(field)));
    }
    const int64_t row = elements(column.row_shape);
    if (row == 0 || column.elements % row != 0) {
      throw tenon::Error(ErrorCode::kConfig, fmt::format("\"{}\" has {} elements, which are no rows of {}", column.name,
                                                         column.elements, to_string(given)));
    }
    return column.elements / row;
  }

  const core::RunCheckpoint place_;
  const std::shared_ptr<Runtime::Content> runtime_;
  const std::shared_ptr<Rows> rows_ = std::make_shared<Rows>();
  std::mutex mutex_;
  std::unique_ptr<engine::OpenedPredictor> predictor_;
  Worker worker_;  // last: its thread ends first
};

Predictor::Predictor(std::unique_ptr<Content> content) noexcept : content_(std::move(content)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Predictions Predictor::predict(std::span<const Column> columns) {
  return guarded([&] { return content_->predict(columns); });
}

const std::filesystem::path& Predictor::checkpoint() const noexcept { return content_->checkpoint(); }

Predictor Runtime::predictor(const std::filesystem::path& place, const PredictorOptions& options) const {
  return guarded([&] { return Predictor(std::make_unique<Predictor::Content>(place, options, content_)); });
}

}  // namespace tenon::kernel
