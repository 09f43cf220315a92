// What data-driven cases say of a diagnostic's text.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/text/diagnostic.hpp>
#include <core/text/render.hpp>

namespace tenon::core::testing {

/// Each text stands in the rendered diagnostic; "=> TEXT" is the replacement that it suggests.
inline void check_texts(const Diagnostic& diagnostic, const std::vector<std::string>& texts) {
  const std::string shown = render_text(diagnostic);
  for (const std::string& text : texts) {
    if (text.starts_with("=> ")) {
      ASSERT_TRUE(diagnostic.suggestion) << shown;
      EXPECT_EQ(diagnostic.suggestion->replacement, text.substr(3)) << shown;
    } else {
      EXPECT_NE(shown.find(text), std::string::npos) << "missing: " << text << "\n" << shown;
    }
  }
}

}  // namespace tenon::core::testing
