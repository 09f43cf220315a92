// Walks over the values of a field.
#include <engine/data/check/field_survey.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

#include <engine/data/stream.hpp>

namespace tenon::engine {
namespace {

bool integer(Dtype dtype) noexcept {
  return dtype == Dtype::kUint8 || dtype == Dtype::kInt8 || dtype == Dtype::kInt16 || dtype == Dtype::kInt32 ||
         dtype == Dtype::kInt64;
}

bool measurable(Dtype dtype) noexcept { return integer(dtype) || dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64; }

/// Calls `use` with the values as what they are; types without arithmetic here are left out.
template <class Use>
void with_type(Dtype dtype, const void* data, const Use& use) {
  switch (dtype) {
    case Dtype::kUint8: return use(static_cast<const uint8_t*>(data));
    case Dtype::kInt8: return use(static_cast<const int8_t*>(data));
    case Dtype::kInt16: return use(static_cast<const int16_t*>(data));
    case Dtype::kInt32: return use(static_cast<const int32_t*>(data));
    case Dtype::kInt64: return use(static_cast<const int64_t*>(data));
    case Dtype::kFloat32: return use(static_cast<const float*>(data));
    case Dtype::kFloat64: return use(static_cast<const double*>(data));
    default: return;
  }
}

/// The moments of `size` small integers that lie `step` apart, from exact sums.
template <class T>
Moments moments_of_bytes(const T* values, int64_t size, int64_t step) {
  Moments all;
  if (size == 0) return all;
  int64_t sum = 0;
  int64_t squares = 0;
  T least = values[0];
  T most = least;
  for (int64_t i = 0; i < size; ++i) {
    const T value = values[i * step];
    sum += value;
    squares += static_cast<int32_t>(value) * static_cast<int32_t>(value);
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  all.count = size;
  all.mean = static_cast<double>(sum) / static_cast<double>(size);
  all.squares = std::max(static_cast<double>(squares) - static_cast<double>(sum) * all.mean, 0.0);
  all.minimum = static_cast<double>(least);
  all.maximum = static_cast<double>(most);
  return all;
}

/// The moments of `size` values that lie `step` apart. Sums of differences from the first finite value: as exact as
/// Welford's recurrence where an image has one mean, and without a division a value.
template <class T>
Moments moments_of(const T* values, int64_t size, int64_t step, int64_t sample) {
  if constexpr (sizeof(T) == 1) return moments_of_bytes(values, size, step);
  Moments all;
  int64_t i = 0;
  if constexpr (std::is_floating_point_v<T>) {
    while (i < size && !std::isfinite(values[i * step])) ++i;
    all.not_finite = i;
  }
  if (i < size) {
    const auto origin = static_cast<double>(values[i * step]);
    double sum = 0;
    double squares = 0;
    T least = values[i * step];
    T most = least;
    for (; i < size; ++i) {
      const T value = values[i * step];
      if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(value)) {
          ++all.not_finite;
          continue;
        }
      }
      const double away = static_cast<double>(value) - origin;
      sum += away;
      squares += away * away;
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
    all.count = size - all.not_finite;
    all.mean = origin + sum / static_cast<double>(all.count);
    all.squares = std::max(squares - sum * sum / static_cast<double>(all.count), 0.0);
    all.minimum = static_cast<double>(least);
    all.maximum = static_cast<double>(most);
  }
  if (all.not_finite > 0) all.first_not_finite = sample;
  return all;
}

void note(Occurrence& seen, int64_t times, int64_t sample) {
  if (seen.count == 0) seen.first = sample;
  seen.count += times;
}

}  // namespace

FieldPlan plan_for(const FieldSpec& field) {
  FieldPlan plan;
  plan.sizes = std::any_of(field.shape.begin(), field.shape.end(), [](const Dim& dim) { return !dim.fixed(); });
  plan.classes = field.shape.empty() && integer(field.dtype);
  if (!measurable(field.dtype) || may_be_text(field)) return plan;
  if (field.shape.empty() ||
      (field.shape.size() == 1 && field.shape.front().fixed() && field.shape.front().size <= kWidest)) {
    plan.per = FieldPlan::Per::kElement;
  } else if (const std::optional<ImageLayout> layout = image_layout(field)) {
    plan.per = FieldPlan::Per::kChannel;
    plan.layout = *layout;
  } else {
    plan.per = FieldPlan::Per::kField;
  }
  return plan;
}

FieldSurvey::FieldSurvey(const FieldSpec& field, const FieldPlan& plan) : field_(field), plan_(plan) {
  switch (plan.per) {
    case FieldPlan::Per::kNothing: break;
    case FieldPlan::Per::kField: moments_.resize(1); break;
    case FieldPlan::Per::kElement:
      moments_.resize(field.shape.empty() ? 1 : static_cast<std::size_t>(field.shape.front().size));
      break;
    case FieldPlan::Per::kChannel: moments_.resize(static_cast<std::size_t>(plan.layout.channels)); break;
  }
}

void FieldSurvey::see(const Value& value, int64_t sample) {
  if (plan_.sizes) note(sizes_[Shape(value.shape.begin(), value.shape.end())], 1, sample);
  const int64_t size = elements(value.shape);
  with_type(field_.dtype, value.data, [&](const auto* values) {
    if (plan_.per != FieldPlan::Per::kNothing) measure(values, size, sample);
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(*values)>>) {
      if (plan_.classes) count_classes(values, size, sample);
    }
  });
}

template <class T>
void FieldSurvey::measure(const T* values, int64_t size, int64_t sample) {
  if (plan_.per == FieldPlan::Per::kElement) {
    for (std::size_t i = 0; i < moments_.size(); ++i) moments_[i].add(static_cast<double>(values[i]), sample);
    return;
  }
  const auto parts = static_cast<int64_t>(moments_.size());
  const bool last = plan_.per == FieldPlan::Per::kChannel && plan_.layout.channel.value_or(0) == 2;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t length = size / parts;
    const T* const begin = values + (last ? part : part * length);
    moments_[static_cast<std::size_t>(part)].join(moments_of(begin, length, last ? parts : 1, sample));
  }
}

template <class T>
void FieldSurvey::count_classes(const T* values, int64_t size, int64_t sample) {
  if constexpr (sizeof(T) == 1) {  // masks
    std::array<int64_t, 256> counts{};
    for (int64_t i = 0; i < size; ++i) ++counts[static_cast<uint8_t>(values[i])];
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) count_class(static_cast<T>(i), counts[i], sample);
    }
  } else {
    for (int64_t i = 0; i < size;) {  // in runs of equal values, of which masks are made
      const int64_t begin = i;
      while (i < size && values[i] == values[begin]) ++i;
      count_class(static_cast<int64_t>(values[begin]), i - begin, sample);
    }
  }
}

void FieldSurvey::count_class(int64_t number, int64_t times, int64_t sample) {
  if (too_many_) return;
  note(classes_[number], times, sample);
  if (classes_.size() > kMostClasses) {
    too_many_ = true;
    classes_.clear();
  }
}

void FieldSurvey::join(const FieldSurvey& later) {
  for (std::size_t i = 0; i < moments_.size(); ++i) moments_[i].join(later.moments_[i]);
  for (const auto& [shape, seen] : later.sizes_) note(sizes_[shape], seen.count, seen.first);
  too_many_ = too_many_ || later.too_many_;
  if (too_many_) return classes_.clear();
  for (const auto& [number, seen] : later.classes_) count_class(number, seen.count, seen.first);
}

}  // namespace tenon::engine
