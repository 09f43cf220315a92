// How often a random transform does anything.
#pragma once

#include <string>
#include <utility>

#include <tenon/params.hpp>

namespace tenon::image_transforms {

/// The parameter `p`.
template <class S>
[[nodiscard]] Field chance_field(std::string summary = "How often an image is changed") {
  return field(static_cast<double S::*>(&S::p), "p", std::move(summary)).min(0).max(1);
}

}  // namespace tenon::image_transforms
