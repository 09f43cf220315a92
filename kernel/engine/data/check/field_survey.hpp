// What all values of one field have in common: sizes, numbers, classes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <engine/data/check/moments.hpp>
#include <engine/data/image_layout.hpp>
#include <engine/data/stage.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// What is looked at in a field.
struct FieldPlan {
  /// One number for what: nothing, the whole field, each element of a vector (or a scalar), each channel of an image.
  enum class Per { kNothing, kField, kElement, kChannel };

  Per per = Per::kNothing;
  ImageLayout layout = {};  ///< For kChannel.
  bool sizes = false;       ///< Shapes are counted: some axis is free.
  bool classes = false;     ///< Values are counted: labels, or the pixels of a mask.
};

/// The plan for a field as its spec suggests it: integer scalars are labels. Vectors of at most kWidest elements are
/// looked at element by element.
[[nodiscard]] FieldPlan plan_for(const FieldSpec& field);
inline constexpr int64_t kWidest = 1024;

/// How often something was seen, and in which sample first.
struct Occurrence {
  int64_t count = 0;
  int64_t first = -1;
};

/// One field over many samples.
class FieldSurvey {
 public:
  FieldSurvey(const FieldSpec& field, const FieldPlan& plan);

  void see(const Value& value, int64_t sample);

  /// Adds what was seen later.
  void join(const FieldSurvey& later);

  [[nodiscard]] const FieldSpec& field() const noexcept { return field_; }
  [[nodiscard]] const FieldPlan& plan() const noexcept { return plan_; }

  /// One for each element or channel, or one; empty with Per::kNothing.
  [[nodiscard]] const std::vector<Moments>& moments() const noexcept { return moments_; }
  [[nodiscard]] const std::map<Shape, Occurrence>& sizes() const noexcept { return sizes_; }

  /// Empty too where there are more than kMostClasses of them: numbers that count something, not classes.
  [[nodiscard]] const std::map<int64_t, Occurrence>& classes() const noexcept { return classes_; }
  static constexpr std::size_t kMostClasses = 4096;

 private:
  template <class T>
  void measure(const T* values, int64_t size, int64_t sample);
  template <class T>
  void count_classes(const T* values, int64_t size, int64_t sample);
  void count_class(int64_t number, int64_t times, int64_t sample);

  FieldSpec field_;
  FieldPlan plan_;
  std::vector<Moments> moments_;
  std::map<Shape, Occurrence> sizes_;
  std::map<int64_t, Occurrence> classes_;
  bool too_many_ = false;
};

}  // namespace tenon::engine
