// Abilities of transforms whose numbers come from data: what they learn, and how it is undone. The last is one of
// datasets too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/sample.hpp>

namespace tenon {

/// Ability of a transform that learns from the training data before the first step: means, ranges, categories. What it
/// learned is its state (`Component::state`), so it lies in every checkpoint and is never learned anew from other data.
/// The other streams of a pipeline use the same transform through "call".
class Fitted {
 public:
  static constexpr const char* kAbility = "tenon.fitted/1";

  /// Forgets what was learned. After construction nothing is. [trainer]
  virtual void begin() = 0;

  /// One sample of the training data as it reaches this transform: every one, once, by ascending index, as in epoch 0.
  /// \throws Error (kData). [trainer]
  virtual void observe(const Sample& sample) = 0;

  /// Ends learning. \throws Error (kData) when the data does not suffice, naming field and fix. [trainer]
  virtual void finish() = 0;

 protected:
  ~Fitted() = default;
};

/// original = stored · scale + offset, along one axis of a field: one element each, or one for all.
struct Rescaling {
  std::vector<double> scale;
  std::vector<double> offset;
  int64_t axis = -1;  ///< From 0 on; counted from the last one, -1, where it is negative.
};

/// Ability of a transform that brings fields to another scale. Metrics and predictions see values of the original scale:
/// the engine undoes it wherever a port is wired to such a field, or is `like` one that is.
class Rescaled {
 public:
  static constexpr const char* kAbility = "tenon.rescaled/1";

  /// How to undo it for a field; nothing for a field that it leaves alone. After its state is known. [trainer]
  [[nodiscard]] virtual std::optional<Rescaling> rescaling(std::string_view field) const = 0;

 protected:
  ~Rescaled() = default;
};

/// Ability of a transform that replaces texts by numbers 0, 1, …, and of a dataset whose numbers are those of classes
/// with names: predictions show the texts again, also where the dataset is not there any more.
class Categorical {
 public:
  static constexpr const char* kAbility = "tenon.categorical/1";

  /// The text of each number; nothing for a field that has none, or that a transform leaves alone. Of a transform after
  /// its state is known, of a dataset after open(). [trainer]
  [[nodiscard]] virtual std::optional<std::vector<std::string>> categories(std::string_view field) const = 0;

 protected:
  ~Categorical() = default;
};

}  // namespace tenon
