// Field specs and how they are spelt.
#include <tenon/spec.hpp>

#include <tenon/error.hpp>

namespace tenon {

const FieldSpec* find(const Spec& spec, std::string_view name) noexcept {
  for (const FieldSpec& field : spec) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

int index_of(const Spec& spec, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    if (spec[i].name == name) return static_cast<int>(i);
    known += (i == 0 ? "" : ", ") + spec[i].name;
  }
  throw Error(ErrorCode::kConfig, "there is no field \"" + std::string(name) +
                                      "\" here; the fields are: " + (known.empty() ? "none" : known));
}

std::string to_string(const std::vector<Dim>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    if (shape[i].fixed()) {
      text += std::to_string(shape[i].size);
    } else {
      text += shape[i].symbol.empty() ? "?" : shape[i].symbol;
    }
  }
  return text + "]";
}

std::string to_string(const FieldSpec& field) { return std::string(name_of(field.dtype)) + to_string(field.shape); }

}  // namespace tenon
