// The order of files by their names, as people have it.
#pragma once

#include <string_view>

namespace tenon::datasets {

/// Whether `a` stands before `b`. Numbers within names count as such: "2.npy" stands before "10.npy".
[[nodiscard]] bool comes_before(std::string_view a, std::string_view b);

}  // namespace tenon::datasets
