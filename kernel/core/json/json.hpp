// The JSON value that core works with: objects keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace tenon::core {

/// Objects are ordered vectors, so look-up by key is linear; see `append_member` in <core/json/pointer.hpp>.
using Json = nlohmann::ordered_json;

}  // namespace tenon::core
