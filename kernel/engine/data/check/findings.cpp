// Thresholds and words.
#include <engine/data/check/findings.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::engine {
namespace {

using core::Severity;

constexpr double kImbalance = 10;      // the most frequent class against the rarest
constexpr double kFarScale = 10;       // a target's deviation, or its inverse, or its mean in deviations of 1
constexpr std::size_t kMostNamed = 8;  // columns or classes in one sentence

/// What each class of a field belongs to.
const char* noun_of(const DataField& field) {
  const std::size_t rank = field.field.shape.size();
  return rank == 0 ? "sample" : rank == 1 ? "element" : "pixel";
}

/// Whether a number is a class, as far as the graph tells.
bool counts(const DataTarget& target, int64_t number) {
  return number != target.ignored && (!target.classes || (number >= 0 && number < *target.classes));
}

/// "2 pixels"
std::string counted(int64_t count, const DataField& field) {
  return fmt::format("{} {}{}", count, noun_of(field), count == 1 ? "" : "s");
}

std::string samples_text(int64_t count) { return fmt::format("{} sample{}", count, count == 1 ? "" : "s"); }

/// "a, b, c and 4 more"
std::string some_of(const std::vector<std::string>& names) {
  if (names.size() <= kMostNamed) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), names.begin() + kMostNamed);
  return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - kMostNamed);
}

std::string class_text(const DataClass& each) {
  return each.name.empty() ? std::to_string(each.number) : fmt::format("{} ({})", each.number, each.name);
}

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

class Judge {
 public:
  explicit Judge(const DataReport& report) : report_(report) {}

  std::vector<DataFinding> all() {
    for (const DataPart& part : report_.parts) {
      failures(part);
      if (part.size == 0) {
        add(Severity::kError, "no-samples", part, "", fmt::format("dataset \"{}\" has no samples", part.dataset));
      }
      ranges(part);
      not_finite(part);
      if (trains(part.path)) {
        constants(part);
        imbalance(part);
        target_scales(part);
      }
      sizes(part);
    }
    missing_classes();
    duplicates();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const DataFinding& a, const DataFinding& b) { return rank(a.severity) < rank(b.severity); });
    return std::move(findings_);
  }

 private:
  static int rank(Severity severity) {
    return severity == Severity::kError ? 0 : severity == Severity::kWarning ? 1 : 2;
  }

  void add(Severity severity, const char* code, const DataPart& part, std::string field, std::string message) {
    findings_.push_back({severity, code, {part.path}, part.dataset, std::move(field), std::move(message)});
  }

  void failures(const DataPart& part) {
    if (part.failures.empty()) return;
    const auto count = static_cast<int64_t>(part.failures.size());
    const std::string what = fmt::format("{} of {} cannot be read or transformed, the first at index {}", count,
                                         samples_text(part.read), part.failures.front().index);
    // Of a part that was read in part alone, as many of the rest are taken to be bad.
    const double all = static_cast<double>(count) * static_cast<double>(part.size) / static_cast<double>(part.read);
    if (!part.tolerated) {
      add(Severity::kError, "unreadable-sample", part, "",
          what + ": mend or remove them, or let the loader leave them out with \"bad_sample\"");
    } else if (all > static_cast<double>(*part.tolerated)) {
      add(Severity::kError, "unreadable-sample", part, "",
          fmt::format("{}, more than the {} that \"bad_sample\" of the loader allows in an epoch: mend or remove them",
                      what, *part.tolerated));
    } else {
      add(Severity::kWarning, "unreadable-sample", part, "",
          fmt::format("{}; \"bad_sample\" of the loader allows {} in an epoch", what, *part.tolerated));
    }
    findings_.back().node = part.failures.front().node;
  }

  /// Where the end of the stream is not reached, a label may lack the transform that makes it a class.
  [[nodiscard]] static const DataField* seen_field(const DataPart& part, const std::string& name) {
    const auto found = std::find_if(part.seen.begin(), part.seen.end(),
                                    [&](const DataField& each) { return each.field.name == name; });
    return found == part.seen.end() ? nullptr : &*found;
  }

  void ranges(const DataPart& part) {
    std::set<std::string> told;
    for (const DataTarget& target : part.targets) {
      const DataField* const field = seen_field(part, target.field);
      if (!target.classes || field == nullptr || !told.insert(target.field).second) continue;
      std::vector<std::string> wrong;
      int64_t count = 0;
      const DataClass* example = nullptr;
      for (const DataClass& each : field->classes) {
        if (counts(target, each.number) || each.number == target.ignored) continue;
        wrong.push_back(std::to_string(each.number));
        count += each.count;
        if (example == nullptr) example = &each;
      }
      if (example == nullptr) continue;
      add(Severity::kError, "label-range", part, target.field,
          fmt::format("{} {} a value of field \"{}\" that is no class of \"{}\", which has {} (0 to {}): {}; such as "
                      "sample {} of \"{}\" with {}",
                      counted(count, *field), count == 1 ? "has" : "have", target.field, target.model, *target.classes,
                      *target.classes - 1, some_of(wrong), example->first_sample, part.dataset, example->number));
    }
  }

  void not_finite(const DataPart& part) {
    for (const DataField& field : part.stored) {
      std::vector<std::string> names;
      int64_t count = 0;
      int64_t sample = -1;
      for (const DataColumn& column : field.columns) {
        if (column.not_finite == 0) continue;
        names.push_back(column.name);
        count += column.not_finite;
        if (sample < 0 || column.first_not_finite < sample) sample = column.first_not_finite;
      }
      if (count == 0) continue;
      add(Severity::kWarning, "not-finite", part, field.field.name,
          fmt::format("field \"{}\"{} of \"{}\" holds {} value{} that {} not finite, the first in sample {}",
                      field.field.name, columns_text(field, names), part.dataset, count, count == 1 ? "" : "s",
                      count == 1 ? "is" : "are", sample));
    }
  }

  /// ", columns a, b"; nothing for a field without columns.
  static std::string columns_text(const DataField& field, const std::vector<std::string>& names) {
    if (field.per != DataField::Per::kElement || field.field.shape.empty()) return {};
    return fmt::format(", column{} {}", names.size() == 1 ? "" : "s", some_of(names));
  }

  void constants(const DataPart& part) {
    for (const DataField& field : part.stored) {
      const bool classes = std::any_of(part.targets.begin(), part.targets.end(), [&](const DataTarget& target) {
        return target.numbers_classes && target.field == field.field.name;  // one-class and missing-class tell of these
      });
      if (classes) continue;
      std::vector<std::string> names;
      double value = 0;
      for (const DataColumn& column : field.columns) {
        if (!column.constant()) continue;
        names.push_back(column.name);
        value = column.minimum;
      }
      if (names.empty()) continue;
      const std::string what = columns_text(field, names);
      add(Severity::kWarning, "constant-column", part, field.field.name,
          names.size() == 1
              ? fmt::format("field \"{}\"{} of \"{}\" is {} in every sample: there is nothing to learn from it",
                            field.field.name, what, part.dataset, value)
              : fmt::format("field \"{}\"{} of \"{}\" have one value each in all samples: there is nothing to learn "
                            "from them",
                            field.field.name, what, part.dataset));
    }
  }

  void imbalance(const DataPart& part) {
    std::set<std::string> told;
    for (const DataTarget& target : part.targets) {
      const DataField* const field = seen_field(part, target.field);
      if (!target.numbers_classes || field == nullptr || !field->field.shape.empty()) continue;
      if (!told.insert(target.field).second) continue;
      std::vector<DataClass> classes = field->classes;
      std::erase_if(classes, [&](const DataClass& each) { return !counts(target, each.number); });
      if (classes.empty()) continue;
      if (classes.size() == 1) {
        add(Severity::kWarning, "one-class", part, target.field,
            fmt::format("every sample of \"{}\" has the class {} in field \"{}\"", part.dataset,
                        class_text(classes.front()), target.field));
        continue;
      }
      const auto [rarest, commonest] = std::minmax_element(
          classes.begin(), classes.end(), [](const DataClass& a, const DataClass& b) { return a.count < b.count; });
      const double ratio = static_cast<double>(commonest->count) / static_cast<double>(rarest->count);
      if (ratio < kImbalance) continue;
      add(Severity::kWarning, "imbalance", part, target.field,
          fmt::format("field \"{}\" of \"{}\": class {} has {}, {:.0f} times as many as class {}, which has {}: weigh "
                      "the classes in the loss, or let the loader draw them evenly",
                      target.field, part.dataset, class_text(*commonest), samples_text(commonest->count), ratio,
                      class_text(*rarest), rarest->count));
    }
  }

  void target_scales(const DataPart& part) {
    std::set<std::string> told;
    for (const DataTarget& target : part.targets) {
      const DataField* const field = seen_field(part, target.field);
      if (target.numbers_classes || field == nullptr || !part.cut.empty()) continue;
      if (!told.insert(target.field).second) continue;
      for (const DataColumn& column : field->columns) {
        if (column.count < 2 || column.constant() || (column.minimum >= 0 && column.maximum <= 1)) continue;
        const bool far =
            column.deviation > kFarScale || column.deviation < 1 / kFarScale || std::abs(column.mean) > kFarScale;
        if (!far) continue;
        add(Severity::kWarning, "target-scale", part, target.field,
            fmt::format("field \"{}\"{}, which \"{}\" compares with predictions, has mean {:.4g} and deviation {:.4g}: "
                        "training is easier near 0 and 1; put a transform:standardize before the loader, which is "
                        "undone for metrics and predictions",
                        target.field, columns_text(*field, {column.name}), target.node, column.mean, column.deviation));
        break;
      }
    }
  }

  void sizes(const DataPart& part) {
    for (const std::string& name : part.unbatchable) {
      const DataField* const field = seen_field(part, name);
      if (field == nullptr || !field->sizes) continue;
      const DataSizes& sizes = *field->sizes;
      add(Severity::kWarning, "ragged-field", part, name,
          fmt::format(
              "field \"{}\" of \"{}\" comes in {} sizes, from {} (sample {}) to {} (sample {}), which do not go "
              "into one batch: bring them to one size with a transform, or let the loader pad or list them",
              name, part.dataset, sizes.different, shape_text(sizes.smallest), sizes.smallest_sample,
              shape_text(sizes.largest), sizes.largest_sample));
    }
  }

  /// Classes of one part that another lacks, and classes of the model that training lacks.
  void missing_classes() {
    std::map<std::string, std::vector<std::pair<const DataPart*, const DataField*>>> by_field;
    std::map<std::string, const DataTarget*> targets;
    for (const DataPart& part : report_.parts) {
      if (!trains(part.path) && !measures(part.path)) continue;
      for (const DataTarget& target : part.targets) {
        const DataField* const field = seen_field(part, target.field);
        if (!target.numbers_classes || field == nullptr || field->classes.empty()) continue;
        auto& parts = by_field[target.field];
        if (parts.empty() || parts.back().first != &part) parts.emplace_back(&part, field);
        targets.emplace(target.field, &target);
      }
    }
    for (const auto& [name, parts] : by_field) lacking(name, *targets.at(name), parts);
  }

  void lacking(const std::string& name, const DataTarget& target,
               const std::vector<std::pair<const DataPart*, const DataField*>>& parts) {
    std::map<int64_t, std::string> all;
    if (target.classes) {
      for (int64_t number = 0; number < std::min<int64_t>(*target.classes, 4096); ++number) all[number] = {};
    }
    for (const auto& [part, field] : parts) {
      for (const DataClass& each : field->classes) {
        if (!counts(target, each.number)) continue;
        std::string& known = all[each.number];
        if (known.empty()) known = each.name;
      }
    }
    for (const auto& [part, field] : parts) {
      if (part->read < part->size) continue;  // they may be among the others
      std::vector<std::string> absent;
      for (const auto& [number, text] : all) {
        const bool there = std::any_of(field->classes.begin(), field->classes.end(),
                                       [number = number](const DataClass& each) { return each.number == number; });
        if (!there) absent.push_back(class_text({number, text, 0, 0}));
      }
      if (absent.empty()) continue;
      add(Severity::kWarning, "missing-class", *part, name,
          fmt::format("no {} of \"{}\" has {}{} in field \"{}\"", noun_of(*field), part->dataset,
                      absent.size() == 1 ? "class " : "any of the classes ", some_of(absent), name));
    }
  }

  void duplicates() {
    for (const DataDuplicates& each : report_.duplicates) {
      const DataPart& part = part_of(each.path);
      std::vector<std::string> examples;
      for (const DataDuplicates::Pair& pair : each.examples) {
        examples.push_back(fmt::format("{} = {}", pair.index, pair.other));
      }
      if (each.path == each.other) {
        add(Severity::kNote, "repeated-samples", part, "",
            fmt::format("{} of \"{}\" equal{} an earlier one of it: {}", samples_text(each.count), part.dataset,
                        each.count == 1 ? "s" : "", fmt::join(examples, ", ")));
        continue;
      }
      const DataPart& other = part_of(each.other);
      if (part.dataset == other.dataset) {
        add(Severity::kWarning, "same-data", part, "",
            fmt::format("{} reads dataset \"{}\", as {} does: its numbers say nothing of data that was not trained on",
                        each.path, part.dataset, each.other));
      } else {
        add(Severity::kWarning, "leaked-samples", part, "",
            fmt::format("{} of {} (\"{}\") {} also in {} (\"{}\"), by content: {}", samples_text(each.count), each.path,
                        part.dataset, each.count == 1 ? "is" : "are", each.other, other.dataset,
                        fmt::join(examples, ", ")));
      }
      findings_.back().paths.push_back(each.other);
    }
  }

  [[nodiscard]] const DataPart& part_of(const std::string& path) const {
    return *std::find_if(report_.parts.begin(), report_.parts.end(),
                         [&](const DataPart& part) { return part.path == path; });
  }

  const DataReport& report_;
  std::vector<DataFinding> findings_;
};

}  // namespace

bool trains(std::string_view path) noexcept { return path == "fit" || path.starts_with("fit."); }

bool measures(std::string_view path) noexcept {
  return path == "test" || path == "validate" || path.starts_with("validate.");
}

std::vector<DataFinding> judge(const DataReport& report) { return Judge(report).all(); }

}  // namespace tenon::engine
