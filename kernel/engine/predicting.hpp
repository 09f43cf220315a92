// Predictions: one pass of the path "predict" over the weights of a checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include <engine/engine.hpp>
#include <engine/feed.hpp>

namespace tenon::engine {

/// Where the pipeline says what an output shows.
[[nodiscard]] std::string output_pointer(const core::Resolved& resolved, const core::PredictedOutput& output);

/// \throws PlacedError where the form of an output makes no sense of such a value: the softmax of a single one, or one
/// without an axis of classes.
void require_form(const core::Resolved& resolved, const core::PredictedOutput& output, const at::Tensor& value);

/// \throws PlacedError for a field of the batch that a loader joins from the samples' lists: it has no row a sample.
void require_row(const core::Resolved& resolved, const core::PredictedOutput& output, const Feed& feed);

/// See Engine::predict. One rank, whatever the pipeline says. [trainer]
int64_t predict_rows(const PredictRequest& request, PredictionSink& sink);

/// See Engine::open_predictor. [trainer]
[[nodiscard]] std::unique_ptr<OpenedPredictor> open_predictor(PredictRequest request);

}  // namespace tenon::engine
