// The report as JSON.
#include <host/data_page.hpp>

#include <core/storage/canonical_json.hpp>

namespace tenon::host {
namespace {

using core::Json;
using engine::DataField;

Json shape_json(const std::vector<Dim>& shape) {
  Json sizes = Json::array();
  for (const Dim& dim : shape) {
    if (dim.fixed()) {
      sizes.push_back(dim.size);
    } else {
      sizes.push_back(dim.symbol.empty() ? "?" : dim.symbol);
    }
  }
  return sizes;
}

const char* word_of(DataField::Per per) {
  switch (per) {
    case DataField::Per::kNothing: return "nothing";
    case DataField::Per::kField: return "field";
    case DataField::Per::kElement: return "element";
    case DataField::Per::kChannel: return "channel";
  }
  return "";
}

Json column_json(const engine::DataColumn& column) {
  Json json{{"name", column.name}, {"count", column.count}, {"not_finite", column.not_finite}};
  if (column.not_finite > 0) json["first_not_finite"] = column.first_not_finite;
  if (column.count == 0) return json;
  json["mean"] = core::number_json(column.mean);
  json["deviation"] = core::number_json(column.deviation);
  json["min"] = core::number_json(column.minimum);
  json["max"] = core::number_json(column.maximum);
  return json;
}

Json sizes_json(const engine::DataSizes& sizes) {
  return {{"different", sizes.different},
          {"smallest", sizes.smallest},
          {"smallest_sample", sizes.smallest_sample},
          {"largest", sizes.largest},
          {"largest_sample", sizes.largest_sample},
          {"most_frequent", sizes.most_frequent},
          {"most_frequent_count", sizes.most_frequent_count}};
}

Json fields_json(const std::vector<DataField>& fields) {
  Json all = Json::array();
  for (const DataField& field : fields) {
    Json json{{"name", field.field.name},
              {"dtype", name_of(field.field.dtype)},
              {"shape", shape_json(field.field.shape)},
              {"per", word_of(field.per)}};
    json["columns"] = Json::array();
    for (const engine::DataColumn& column : field.columns) json["columns"].push_back(column_json(column));
    if (field.sizes) json["sizes"] = sizes_json(*field.sizes);
    if (!field.classes.empty()) json["classes"] = Json::array();
    for (const engine::DataClass& each : field.classes) {
      Json one{{"number", each.number}, {"count", each.count}, {"first_sample", each.first_sample}};
      if (!each.name.empty()) one["name"] = each.name;
      json["classes"].push_back(std::move(one));
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json targets_json(const std::vector<engine::DataTarget>& targets) {
  Json all = Json::array();
  for (const engine::DataTarget& target : targets) {
    Json json{{"field", target.field}, {"node", target.node}, {"numbers_classes", target.numbers_classes}};
    if (target.classes) json["classes"] = *target.classes;
    if (target.ignored) json["ignored"] = *target.ignored;
    all.push_back(std::move(json));
  }
  return all;
}

Json scales_json(const std::vector<engine::DataScale>& scales) {
  Json all = Json::array();
  for (const engine::DataScale& scale : scales) {
    Json json{{"field", scale.field}, {"divided_by", scale.unit}};
    if (!scale.node.empty()) json["node"] = scale.node;
    for (const auto& [name, numbers] : {std::pair{"mean", &scale.mean}, std::pair{"std", &scale.deviation}}) {
      json[name] = Json::array();
      for (const double number : *numbers) json[name].push_back(core::number_json(number));
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json part_json(const engine::DataPart& part) {
  Json json{{"path", part.path},
            {"dataset", part.dataset},
            {"component", part.component},
            {"size", part.size},
            {"read", part.read},
            {"left_out", part.left_out},
            {"unbatchable", part.unbatchable},
            {"stored", fields_json(part.stored)},
            {"seen", fields_json(part.seen)},
            {"targets", targets_json(part.targets)},
            {"scales", scales_json(part.scales)}};
  if (!part.cut.empty()) json["cut"] = part.cut;
  json["failures"] = Json::array();
  for (const engine::DataFailure& failure : part.failures) {
    json["failures"].push_back({{"index", failure.index}, {"node", failure.node}, {"message", failure.message}});
  }
  return json;
}

}  // namespace

Json data_json(const engine::DataReport& report, const std::string& pipeline, int exit_code) {
  Json json{{"format", 1}, {"pipeline", pipeline}};
  json["parts"] = Json::array();
  for (const engine::DataPart& part : report.parts) json["parts"].push_back(part_json(part));
  json["duplicates"] = Json::array();
  for (const engine::DataDuplicates& each : report.duplicates) {
    Json examples = Json::array();
    for (const engine::DataDuplicates::Pair& pair : each.examples) {
      examples.push_back({{"index", pair.index}, {"other", pair.other}});
    }
    json["duplicates"].push_back(
        {{"path", each.path}, {"other", each.other}, {"count", each.count}, {"examples", examples}});
  }
  json["findings"] = Json::array();
  for (const engine::DataFinding& finding : report.findings) {
    Json one{{"severity", core::to_string(finding.severity)},
             {"code", finding.code},
             {"paths", finding.paths},
             {"message", finding.message}};
    if (!finding.node.empty()) one["node"] = finding.node;
    if (!finding.field.empty()) one["field"] = finding.field;
    json["findings"].push_back(std::move(one));
  }
  json["errors"] = count_findings(report, core::Severity::kError);
  json["warnings"] = count_findings(report, core::Severity::kWarning);
  json["exit_code"] = exit_code;
  return json;
}

}  // namespace tenon::host
