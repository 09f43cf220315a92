// A dataset and the transforms behind it, as another dataset reads them: where the `in` of a dataset names a transform.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <engine/data/stream.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/item_names.hpp>

namespace tenon::engine {

/// What may know the classes of a field of a stream, and what it calls the field.
struct ClassSource {
  Component* component = nullptr;  ///< nullptr: nothing does.
  std::string field;
};

/// The samples of a stream as in epoch 0 of 1, whichever epoch reads them: none of its transforms draws random numbers
/// or learns from data. Its dataset is opened on its own, before whoever reads this one.
class StreamDataset final : public Dataset, public Categorical, public ItemNames {
 public:
  /// `source` is the stream's dataset; it outlives this one. `identity` is text that changes when a transform, its
  /// version or its parameters do. `classes` are those of the stream's fields, in their order.
  StreamDataset(Stream stream, const Dataset& source, std::string identity, std::vector<ClassSource> classes = {});

  /// ItemNames, with those of the stream's dataset; none where that has none. Categorical where some field's classes
  /// may be known.
  [[nodiscard]] void* ability(const char* id) noexcept override;

  [[nodiscard]] Spec spec() const override { return stream_.fields(); }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return stream_.size(); }
  [[nodiscard]] std::string fingerprint() const override;

  /// \throws DataError naming the stage at fault.
  void read(int64_t index, Sample& out) const override;

  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override;
  [[nodiscard]] std::string item_name(int64_t index) const override { return stream_.item_name(index); }

 private:
  class Lent;

  Stream stream_;
  const Dataset& source_;
  std::string identity_;
  std::vector<ClassSource> classes_;  // by field
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;  // as many as threads have read at once
};

}  // namespace tenon::engine
