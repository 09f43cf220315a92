// Holds what a component allocates against its spec, and hands on the rest.
#include <engine/data/stage.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::kData, message); }

std::string text(Dtype dtype, std::span<const int64_t> shape) {
  return to_string(FieldSpec{{}, dtype, {shape.begin(), shape.end()}});
}

std::string names_of(const Spec& spec) {
  std::string names;
  for (const FieldSpec& field : spec) {
    names += names.empty() ? field.name : ", " + field.name;
  }
  return names;
}

int position_of(const Spec& spec, std::string_view name, std::string_view side) {
  const FieldSpec* field = find(spec, name);
  if (field == nullptr) {
    refuse(fmt::format("there is no field \"{}\" at the {}{}", name, side,
                       spec.empty() ? "" : fmt::format("; the fields are {}", names_of(spec))));
  }
  return static_cast<int>(field - spec.data());
}

const FieldSpec& field_at(const Spec& spec, int position, std::string_view side) {
  if (position < 0 || static_cast<std::size_t>(position) >= spec.size()) {
    refuse(fmt::format("there is no field {} at the {}, which has {}", position, side, spec.size()));
  }
  return spec[static_cast<std::size_t>(position)];
}

bool fits(const FieldSpec& field, Dtype dtype, std::span<const int64_t> shape) {
  return field.dtype == dtype &&
         std::equal(field.shape.begin(), field.shape.end(), shape.begin(), shape.end(),
                    [](const Dim& dim, int64_t size) { return dim.fixed() ? dim.size == size : size >= 0; });
}

std::size_t bytes_of(const FieldSpec& field, std::span<const int64_t> shape) {
  auto bytes = static_cast<int64_t>(size_of(field.dtype));
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      refuse(fmt::format("field \"{}\", {}, is too large", field.name, text(field.dtype, shape)));
    }
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

StageSample::StageSample(const Stage& stage, const Spec& in_spec, std::span<const Value> in, std::span<Value> out,
                         Arena& arena, Destination* destination)
    : stage_(stage), in_spec_(in_spec), in_(in), out_(out), arena_(arena), destination_(destination) {
  for (Value& value : out_) {
    value.set = false;
  }
}

Array StageSample::at(int field) const {
  const FieldSpec& spec = field_at(in_spec_, field, "input");
  const Value& value = in_[static_cast<std::size_t>(field)];
  return {value.data, spec.dtype, value.shape};
}

Array StageSample::at(std::string_view name) const { return at(position_of(in_spec_, name, "input")); }

Array StageSample::allocate(int field, Dtype dtype, std::span<const int64_t> shape) {
  const FieldSpec& spec = field_at(stage_.spec, field, "output");
  Value& value = out_[static_cast<std::size_t>(field)];
  if (!fits(spec, dtype, shape)) {
    refuse(fmt::format("allocates field \"{}\" as {}, but its spec says {}", spec.name, text(dtype, shape),
                       to_string(spec)));
  }
  if (!value.set) {
    const std::size_t bytes = bytes_of(spec, shape);
    value.shape.assign(shape.begin(), shape.end());
    value.data = destination_ == nullptr ? nullptr : destination_->place(field, shape);
    if (value.data == nullptr) {
      value.data = arena_.allocate(bytes);
    }
    value.set = true;
  } else if (!std::equal(shape.begin(), shape.end(), value.shape.begin(), value.shape.end())) {
    refuse(
        fmt::format("allocates field \"{}\" as {} after {}", spec.name, text(dtype, shape), text(dtype, value.shape)));
  }
  return {value.data, dtype, value.shape};
}

Array StageSample::allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) {
  return allocate(position_of(stage_.spec, name, "output"), dtype, shape);
}

void StageSample::finish() {
  for (std::size_t i = 0; i < out_.size(); ++i) {
    Value& value = out_[i];
    if (value.set) {
      continue;
    }
    const FieldSpec& spec = stage_.spec[i];
    const int source = stage_.source[i];
    if (source < 0) {
      refuse(fmt::format("does not allocate field \"{}\", which its spec promises as {}", spec.name, to_string(spec)));
    }
    const Value& from = in_[static_cast<std::size_t>(source)];
    const Dtype dtype = in_spec_[static_cast<std::size_t>(source)].dtype;
    if (!fits(spec, dtype, from.shape)) {
      refuse(fmt::format("hands on field \"{}\" unchanged as {}, but its spec says {}", spec.name,
                         text(dtype, from.shape), to_string(spec)));
    }
    value = from;
    if (destination_ != nullptr) {
      void* place = destination_->place(static_cast<int>(i), from.shape);
      const std::size_t bytes = bytes_of(spec, from.shape);
      if (place != nullptr && bytes > 0) {
        std::memcpy(place, from.data, bytes);
        value.data = place;
      }
    }
  }
  check_symbols();
}

// A symbol stands for one size within the sample. Specs have few, so each axis is compared with those before it.
void StageSample::check_symbols() const {
  struct Use {
    std::string_view symbol;
    int64_t size;
    std::size_t field;
  };
  std::vector<Use> uses;
  for (std::size_t i = 0; i < out_.size(); ++i) {
    for (std::size_t axis = 0; axis < out_[i].shape.size(); ++axis) {
      const std::string& symbol = stage_.spec[i].shape[axis].symbol;
      if (symbol.empty()) {
        continue;
      }
      const int64_t size = out_[i].shape[axis];
      const auto same = std::find_if(uses.begin(), uses.end(), [&](const Use& use) { return use.symbol == symbol; });
      if (same == uses.end()) {
        uses.push_back({symbol, size, i});
      } else if (same->size != size) {
        refuse(fmt::format("axis {} is {} in field \"{}\" and {} in field \"{}\"", symbol, same->size,
                           stage_.spec[same->field].name, size, stage_.spec[i].name));
      }
    }
  }
}

}  // namespace tenon::engine
