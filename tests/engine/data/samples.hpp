// Samples of a stream as plain bytes, and components as its nodes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <engine/data/stream.hpp>

namespace tenon::engine::fakes {

/// Keeps a sample's fields.
class Kept final : public Destination {
 public:
  explicit Kept(const Stream& stream) : stream_(stream), fields(stream.fields().size()), shapes(fields.size()) {}
  void* place(int field, std::span<const int64_t> shape) override {
    const auto at = static_cast<std::size_t>(field);
    ++calls;
    shapes[at].assign(shape.begin(), shape.end());
    fields[at].assign(static_cast<std::size_t>(elements(shape)) * size_of(stream_.fields()[at].dtype), '\0');
    return fields[at].data();
  }

 private:
  const Stream& stream_;

 public:
  std::vector<std::string> fields;
  std::vector<Shape> shapes;
  int calls = 0;
};

inline TransformNode node(const char* name, const Transform& transform) {
  return {name, std::string("transform:") + name, &transform};
}
inline DatasetNode node(const Dataset& dataset) { return {"train_set", "dataset:fake", &dataset}; }

inline std::vector<std::string> sample_of(const Stream& stream, const SampleKey& key) {
  Kept kept(stream);
  Workspace workspace;
  stream.run(key, kept, workspace);
  return kept.fields;
}

}  // namespace tenon::engine::fakes
