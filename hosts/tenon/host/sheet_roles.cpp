// By type and shape.
#include <host/sheet_roles.hpp>

#include <host/sample_text.hpp>

namespace tenon::host {
namespace {

std::optional<std::size_t> image_of(const std::vector<engine::ShownField>& fields) {
  std::optional<std::size_t> flat;  // [H, W] is a mask where there is another image
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldSpec& field = fields[i].field;
    const auto layout = engine::image_layout(field);
    if (layout && layout->channel) return i;
    if (layout && !flat) flat = i;
  }
  return flat;
}

}  // namespace

bool counts_wholes(Dtype dtype) noexcept {
  return dtype == Dtype::kBool || dtype == Dtype::kUint8 || dtype == Dtype::kInt8 || dtype == Dtype::kInt16 ||
         dtype == Dtype::kInt32 || dtype == Dtype::kInt64;
}

std::optional<SheetRoles> sheet_roles(const std::vector<engine::ShownField>& fields) {
  const std::optional<std::size_t> image = image_of(fields);
  if (!image) return std::nullopt;
  SheetRoles roles;
  roles.image = *image;
  roles.layout = *engine::image_layout(fields[*image].field);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == *image) continue;
    const FieldSpec& field = fields[i].field;
    const bool free = !field.shape.empty() && !field.shape.front().fixed();
    if (field.shape.size() == 2 && counts_wholes(field.dtype)) {
      roles.masks.push_back(i);
    } else if (field.shape.size() == 2 && field.dtype == Dtype::kFloat32 && field.shape[1] == Dim(4)) {
      roles.boxes.push_back(i);
    } else if (field.shape.size() == 1 && free && field.dtype == Dtype::kInt64) {
      roles.box_classes.push_back(i);
    } else if (is_text(field) || field.shape.empty() ||
               (field.shape.size() == 1 && field.shape.front().fixed() &&
                field.shape.front().size <= static_cast<int64_t>(kCaptionNumbers))) {
      roles.captions.push_back(i);
    }
  }
  return roles;
}

}  // namespace tenon::host
