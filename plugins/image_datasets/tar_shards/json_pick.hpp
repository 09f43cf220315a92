// One value out of a JSON text.
#pragma once

#include <string>
#include <string_view>

namespace tenon::image_datasets {

/// The text of the scalar that "a.b.0" names: key "b" of the object under key "a", and of that list the first element.
/// A text comes without its quotes, a number as it is written; true and false read "1" and "0".
/// \throws Error (kData) saying what is wrong with the text, that the value is not there, or that it is no scalar.
[[nodiscard]] std::string json_pick(std::string_view json, std::string_view path);

}  // namespace tenon::image_datasets
