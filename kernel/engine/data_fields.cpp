// Numbers, sizes and classes by name.
#include <engine/data_fields.hpp>

#include <map>
#include <utility>

#include <fmt/format.h>

namespace tenon::engine {
namespace {

DataSizes sizes_of(const std::map<Shape, Occurrence>& shapes) {
  DataSizes sizes;
  sizes.different = static_cast<int64_t>(shapes.size());
  bool first = true;
  for (const auto& [shape, seen] : shapes) {
    if (first || elements(shape) < elements(sizes.smallest)) {
      sizes.smallest = shape;
      sizes.smallest_sample = seen.first;
    }
    if (first || elements(shape) > elements(sizes.largest)) {
      sizes.largest = shape;
      sizes.largest_sample = seen.first;
    }
    if (seen.count > sizes.most_frequent_count) {
      sizes.most_frequent = shape;
      sizes.most_frequent_count = seen.count;
    }
    first = false;
  }
  return sizes;
}

DataField::Per per_of(FieldPlan::Per per) {
  switch (per) {
    case FieldPlan::Per::kNothing: return DataField::Per::kNothing;
    case FieldPlan::Per::kField: return DataField::Per::kField;
    case FieldPlan::Per::kElement: return DataField::Per::kElement;
    case FieldPlan::Per::kChannel: return DataField::Per::kChannel;
  }
  return DataField::Per::kNothing;
}

DataColumn column_of(const Moments& moments, std::string name) {
  DataColumn column;
  column.name = std::move(name);
  column.count = moments.count;
  if (moments.count > 0) {
    column.mean = moments.mean;
    column.deviation = moments.deviation();
    column.minimum = moments.minimum;
    column.maximum = moments.maximum;
  }
  column.not_finite = moments.not_finite;
  column.first_not_finite = moments.first_not_finite;
  return column;
}

}  // namespace

DataField field_of(const FieldSurvey& survey, const std::vector<std::string>& columns,
                   const std::vector<std::string>& categories) {
  DataField field;
  field.field = survey.field();
  field.per = per_of(survey.plan().per);
  const bool named = columns.size() == survey.moments().size();
  const bool several = survey.moments().size() > 1 || (named && !field.field.shape.empty());
  for (std::size_t i = 0; i < survey.moments().size(); ++i) {
    const std::string name = named ? columns[i] : several ? fmt::format("#{}", i + 1) : "";
    field.columns.push_back(column_of(survey.moments()[i], name));
  }
  if (!survey.sizes().empty()) field.sizes = sizes_of(survey.sizes());
  for (const auto& [number, seen] : survey.classes()) {
    const bool has_name = number >= 0 && number < static_cast<int64_t>(categories.size());
    field.classes.push_back(
        {number, has_name ? categories[static_cast<std::size_t>(number)] : "", seen.count, seen.first});
  }
  return field;
}

}  // namespace tenon::engine
