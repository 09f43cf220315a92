// What the shared precompiled header holds: the heavy headers that nearly every source file over ATen includes anyway.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif
