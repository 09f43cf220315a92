// What the precompiled header of the tests without libtorch holds.
#pragma once

#include <gtest/gtest.h>

#include "../kernel/precompiled.hpp"
