// The report as text.
#include <host/data_page.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/data_paths.hpp>
#include <host/pipeline.hpp>
#include <host/run_summary.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using engine::DataField;
using engine::DataPart;

constexpr std::size_t kMostClasses = 40;  // rows of a table
constexpr std::size_t kMostColumns = 40;
constexpr std::size_t kMostUnnamed = 8;

std::string heading(const std::string& text, const Console& console) {
  return fmt::format("\n{}\n", console.paint().bold(text));
}

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

const DataField* field_named(const std::vector<DataField>& fields, const std::string& name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const DataField& field) { return field.field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string parts_text(const engine::DataReport& report, const Console& console) {
  Table table(2);
  table.add({"part", "dataset", "samples", "unreadable", "fields"});
  for (const DataPart& part : report.parts) {
    std::vector<std::string> fields;
    for (const DataField& field : part.stored) fields.push_back(field.field.name + " " + to_string(field.field));
    const std::string samples =
        part.read == part.size ? std::to_string(part.size) : fmt::format("{} of {}", part.read, part.size);
    table.add({spoken_path(part.path), fmt::format("{} ({})", part.dataset, part.component), samples,
               std::to_string(part.failures.size()), fmt::format("{}", fmt::join(fields, ", "))});
  }
  return table.render(console.width());
}

/// Names of the fields that number classes, in the order in which parts have them.
std::vector<std::string> class_fields(const engine::DataReport& report) {
  std::vector<std::string> names;
  for (const DataPart& part : report.parts) {
    for (const DataField& field : part.seen) {
      const bool new_one = std::find(names.begin(), names.end(), field.field.name) == names.end();
      const bool target = std::any_of(part.targets.begin(), part.targets.end(), [&](const engine::DataTarget& each) {
        return each.numbers_classes && each.field == field.field.name;
      });
      if (target && new_one && !field.classes.empty()) names.push_back(field.field.name);
    }
  }
  return names;
}

std::string share_text(int64_t count, int64_t total) {
  return total == 0 ? "" : fmt::format("{:.1f} %", 100 * static_cast<double>(count) / static_cast<double>(total));
}

std::string classes_text(const engine::DataReport& report, const std::string& name, const Console& console) {
  std::map<int64_t, std::string> numbers;
  std::vector<const DataPart*> parts;
  std::size_t rank = 0;
  for (const DataPart& part : report.parts) {
    const DataField* const field = field_named(part.seen, name);
    if (field == nullptr || field->classes.empty()) continue;
    parts.push_back(&part);
    rank = field->field.shape.size();
    for (const engine::DataClass& each : field->classes) {
      std::string& text = numbers[each.number];
      if (text.empty()) text = each.name;
    }
  }
  std::string out = heading(fmt::format("Classes of {}{}", name,
                                        rank == 0   ? ", samples"
                                        : rank == 1 ? ", elements"
                                                    : ", pixels"),
                            console);
  Table table(2);
  std::vector<std::string> head{"class"};
  for (const DataPart* const part : parts) head.push_back(spoken_path(part->path));
  table.add(head);
  std::size_t rows = 0;
  for (const auto& [number, text] : numbers) {
    if (++rows > kMostClasses) break;
    std::vector<std::string> row{text.empty() ? std::to_string(number) : fmt::format("{} {}", number, text)};
    for (const DataPart* const part : parts) {
      const DataField& field = *field_named(part->seen, name);
      int64_t total = 0;
      int64_t count = 0;
      for (const engine::DataClass& each : field.classes) {
        total += each.count;
        if (each.number == number) count = each.count;
      }
      row.push_back(count == 0 ? "-" : fmt::format("{} ({})", count, share_text(count, total)));
    }
    table.add(std::move(row));
  }
  out += table.render(console.width());
  if (numbers.size() > kMostClasses) {
    out += fmt::format("  and {} more; --format json has all\n", numbers.size() - kMostClasses);
  }
  return out;
}

std::string sizes_text(const engine::DataReport& report, const Console& console) {
  Table table(2);
  table.add({"part", "field", "smallest", "largest", "most frequent", "different"});
  bool any = false;
  for (const DataPart& part : report.parts) {
    for (const DataField& field : part.stored) {
      if (!field.sizes || field.sizes->different < 2) continue;
      const engine::DataSizes& sizes = *field.sizes;
      any = true;
      table.add({spoken_path(part.path), field.field.name,
                 fmt::format("{} (sample {})", shape_text(sizes.smallest), sizes.smallest_sample),
                 fmt::format("{} (sample {})", shape_text(sizes.largest), sizes.largest_sample),
                 fmt::format("{} ({} times)", shape_text(sizes.most_frequent), sizes.most_frequent_count),
                 std::to_string(sizes.different)});
    }
  }
  return any ? heading("Sizes as stored", console) + table.render(console.width()) : "";
}

/// All elements of a vector as one.
engine::DataColumn joined(const std::vector<engine::DataColumn>& columns) {
  engine::DataColumn all{.name = fmt::format("(all {})", columns.size())};
  double squares = 0;  // of all numbers, around 0
  for (const engine::DataColumn& column : columns) {
    all.not_finite += column.not_finite;
    if (column.count == 0) continue;
    const auto count = static_cast<double>(column.count);
    all.minimum = all.count == 0 ? column.minimum : std::min(all.minimum, column.minimum);
    all.maximum = all.count == 0 ? column.maximum : std::max(all.maximum, column.maximum);
    all.count += column.count;
    all.mean += (column.mean - all.mean) * count / static_cast<double>(all.count);
    squares += count * (column.deviation * column.deviation + column.mean * column.mean);
  }
  if (all.count > 0) {
    all.deviation = std::sqrt(std::max(squares / static_cast<double>(all.count) - all.mean * all.mean, 0.0));
  }
  return all;
}

/// A long vector whose elements have no names is shown as a whole.
std::vector<engine::DataColumn> columns_shown(const DataField& field) {
  const bool named = !field.columns.empty() && !field.columns.front().name.starts_with('#');
  if (named || field.columns.size() <= kMostUnnamed) return field.columns;
  return {joined(field.columns)};
}

/// Numbers of training as the dataset gives them.
std::string numbers_text(const DataPart& part, const Console& console) {
  Table table(2);
  table.add({"field", "mean", "std", "min", "max", "not finite"});
  std::size_t rows = 0;
  std::size_t more = 0;
  for (const DataField& field : part.stored) {
    const bool classes = std::any_of(part.targets.begin(), part.targets.end(), [&](const engine::DataTarget& target) {
      return target.numbers_classes && target.field == field.field.name;
    });
    if (classes) continue;
    for (const engine::DataColumn& column : columns_shown(field)) {
      if (++rows > kMostColumns) {
        ++more;
        continue;
      }
      const std::string name = column.name.empty() ? field.field.name : field.field.name + " " + column.name;
      table.add({name, short_number(column.mean), short_number(column.deviation), short_number(column.minimum),
                 short_number(column.maximum), column.not_finite == 0 ? "-" : std::to_string(column.not_finite)});
    }
  }
  if (rows == 0) return {};
  std::string out = heading(fmt::format("Numbers of {} as stored", spoken_path(part.path)), console);
  out += table.render(console.width());
  if (more > 0) out += fmt::format("  and {} more; --format json has all\n", more);
  return out;
}

std::string scale_numbers(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const double number : numbers) texts.push_back(fmt::format("{:.4g}", number));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string scales_text(const DataPart& part, const Console& console) {
  std::string out;
  for (const engine::DataScale& scale : part.scales) {
    if (scale.mean.empty()) continue;
    out += heading(fmt::format("Channels of {} in {}{}", scale.field, spoken_path(part.path),
                               scale.unit != 1 ? fmt::format(", divided by {}", scale.unit) : ""),
                   console);
    out += fmt::format("  \"mean\": [{}], \"std\": [{}]\n", scale_numbers(scale.mean), scale_numbers(scale.deviation));
    out += scale.node.empty() ? "  to be written into \"with\" of a transform that normalises\n"
                              : fmt::format("  to be written into \"with\" of \"{}\"\n", scale.node);
  }
  return out;
}

std::string failures_text(const DataPart& part, const Console& console) {
  if (part.failures.empty()) return {};
  std::string out = heading(fmt::format("Samples of {} that cannot be read", spoken_path(part.path)), console);
  for (std::size_t i = 0; i < std::min(part.failures.size(), kMostFailures); ++i) {
    out += fmt::format("  {}\n", part.failures[i].message);
  }
  if (part.failures.size() > kMostFailures) {
    out += fmt::format("  and {} more; --format json has all\n", part.failures.size() - kMostFailures);
  }
  return out;
}

std::string findings_text(const engine::DataReport& report, const Console& console) {
  const Paint paint = console.paint();
  std::string out;
  for (const engine::DataFinding& finding : report.findings) {
    std::vector<std::string> parts(finding.paths.size());
    std::transform(finding.paths.begin(), finding.paths.end(), parts.begin(), spoken_path);
    const std::string head = fmt::format("{}[{}]", core::to_string(finding.severity), finding.code);
    out += fmt::format("{} in {}:\n",
                       finding.severity == core::Severity::kError     ? paint.red(head)
                       : finding.severity == core::Severity::kWarning ? paint.yellow(head)
                                                                      : paint.blue(head),
                       fmt::join(parts, ", "));
    for (const std::string& line : wrap(finding.message, console.width() > 2 ? console.width() - 2 : 0)) {
      out += fmt::format("  {}\n", line);
    }
  }
  return out;
}

}  // namespace

std::size_t count_findings(const engine::DataReport& report, core::Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [&](const engine::DataFinding& finding) { return finding.severity == severity; }));
}

std::string data_page(const engine::DataReport& report, const Console& console) {
  std::string out = parts_text(report, console);
  for (const std::string& name : class_fields(report)) out += classes_text(report, name, console);
  out += sizes_text(report, console);
  for (const DataPart& part : report.parts) {
    if (part.path == "fit") out += numbers_text(part, console);
    out += scales_text(part, console);
  }
  for (const DataPart& part : report.parts) out += failures_text(part, console);
  out += '\n' + findings_text(report, console);
  const std::size_t errors = count_findings(report, core::Severity::kError);
  const std::size_t warnings = count_findings(report, core::Severity::kWarning);
  if (errors + warnings == 0) return out + console.paint().green("nothing is wrong with the data") + '\n';
  return out + fmt::format("{}, {}\n", counted(errors, "error"), counted(warnings, "warning"));
}

}  // namespace tenon::host
