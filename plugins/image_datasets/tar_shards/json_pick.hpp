// One value out of a JSON text.
#pragma once

#include <string>
#include <string_view>

namespace tenon::image_datasets {

/// A scalar: its text, and whether it stood in quotes. true and false read "1" and "0".
struct JsonScalar {
  std::string text;
  bool quoted = false;
};

/// The value that "a.b.0" names: key "b" of the object under key "a", and of that list the first element.
/// \throws Error (kData) saying what is wrong with the text, that the value is not there, or that it is no scalar.
[[nodiscard]] JsonScalar json_pick(std::string_view json, std::string_view path);

}  // namespace tenon::image_datasets
