// Samples of a stream as its loader delivers them, for people to look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <tenon/array.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// One value, without a batch axis.
struct ShownValue {
  Shape shape;
  std::vector<std::byte> bytes;  ///< Of the field's type.
};

/// A sample, or why there is none.
struct ShownSample {
  int64_t index = 0;               ///< In the dataset.
  std::vector<ShownValue> values;  ///< In the order of DataShown::fields; empty for a sample that failed.
  std::string failure;             ///< Empty for a sample that did not.
};

struct ShownField {
  FieldSpec field;
  std::vector<std::string> categories;  ///< The texts of its numbers; empty where there are none.
  std::vector<std::string> columns;     ///< Names of a vector's elements; empty where there are none.
};

/// What is needed to show samples. Changes nothing.
struct DataShowRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::string path = "fit";  ///< Whose stream it is.
  int64_t count = 64;        ///< The first so many of the epoch, or as many as it has.
  int64_t epoch = 0;
  /// Is told what the datasets have to say of their data; may be empty.
  std::function<void(const std::string&)> remark = {};
  /// Is given each sample, with the fields, before the next one is made, and may leave less of it, so that many large
  /// ones do not fill the memory; may be empty.
  std::function<void(const std::vector<ShownField>&, ShownSample&)> reduce = {};
};

struct DataShown {
  std::string dataset;  ///< Node.
  int64_t size = 0;     ///< Samples of the dataset.
  std::vector<ShownField> fields;
  std::vector<ShownSample> samples;   ///< In the order of the loader.
  std::vector<std::string> left_out;  ///< Transforms of batches, behind the loader: nodes, in order.
};

/// The first samples of an epoch, behind all transforms of samples, random ones too, with the random numbers that
/// training has there; those of batches are left out. Fields that a transform rescaled are brought back to the scale
/// that they had. A sample that cannot be made is told in its place. \throws PlacedError where data cannot be opened,
/// where the stream is wrong, and for a sample that takes longer than the loader's "sample_timeout". [trainer]
[[nodiscard]] DataShown show_data(const DataShowRequest& request);

}  // namespace tenon::engine
