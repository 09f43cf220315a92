// All of Tenon::kernel: trains and predicts within another program. Guide: embedding.md.
#pragma once

#include <tenon/kernel/columns.hpp>     // IWYU pragma: export
#include <tenon/kernel/components.hpp>  // IWYU pragma: export
#include <tenon/kernel/error.hpp>       // IWYU pragma: export
#include <tenon/kernel/pipeline.hpp>    // IWYU pragma: export
#include <tenon/kernel/predictor.hpp>   // IWYU pragma: export
#include <tenon/kernel/runtime.hpp>     // IWYU pragma: export
#include <tenon/kernel/training.hpp>    // IWYU pragma: export
