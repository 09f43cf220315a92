// Predictions: one pass of the path "predict" over the weights of a checkpoint.
#pragma once

#include <cstdint>

#include <engine/engine.hpp>

namespace tenon::engine {

/// See Engine::predict. One rank, whatever the pipeline says. [trainer]
int64_t predict_rows(const PredictRequest& request, PredictionSink& sink);

}  // namespace tenon::engine
