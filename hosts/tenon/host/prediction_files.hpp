// Predictions as JSON lines, CSV or .npy.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <engine/engine.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// A sink that can be closed.
class PredictionFile : public engine::PredictionSink {
 public:
  virtual ~PredictionFile() = default;

  /// All rows are there: gives the file its name. \throws Error (kStorage).
  virtual void finish() = 0;
};

/// "jsonl": one object a row, {"index": …, "NAME": …}; classes by their texts where they have some. "csv": one line a
/// row, a column for each element. "npy": a folder with NAME.npy for each output, index.npy, and categories.json where
/// there are texts. What items are called follows their index, as "item", or lies in items.json. Without `out`, rows go
/// to standard output as they are made ("npy" needs one). Files appear under their names when all rows are there; a file
/// that exists is replaced, a folder must be empty or not there.
/// \throws Error (kStorage, kConfig).
[[nodiscard]] std::unique_ptr<PredictionFile> open_prediction_file(const std::string& format,
                                                                   const std::optional<std::filesystem::path>& out,
                                                                   Console& console);

}  // namespace tenon::host
