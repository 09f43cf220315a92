// How often tests with random input try.
#pragma once

#include <string_view>

#include <tenon/fingerprint.hpp>

namespace tenon::test {

/// `all` of them, or a tenth with a sanitizer, which makes each some ten times as slow: there fuzzing goes further.
constexpr int rounds(int all) { return std::string_view(TENON_SANITIZER) == "none" ? all : all / 10; }

}  // namespace tenon::test
