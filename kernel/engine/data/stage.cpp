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

Array array_at(const Spec& spec, std::span<const Value> values, int field) {
  const FieldSpec& known = field_at(spec, field, "input");
  const Value& value = values[static_cast<std::size_t>(field)];
  return {value.data, known.dtype, value.shape};
}

/// Nothing where no memory could hold it.
std::optional<std::size_t> bytes_of(Dtype dtype, std::span<const int64_t> shape) {
  auto bytes = static_cast<int64_t>(size_of(dtype));
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return static_cast<std::size_t>(bytes);
}

std::size_t bytes_of(const FieldSpec& field, std::span<const int64_t> shape) {
  const std::optional<std::size_t> bytes = bytes_of(field.dtype, shape);
  if (!bytes) {
    refuse(fmt::format("field \"{}\", {}, is too large", field.name, text(field.dtype, shape)));
  }
  return *bytes;
}

}  // namespace

void Stage::plan(const Spec& in) {
  source.clear();
  fields.clear();
  twins.clear();
  for (const FieldSpec& given : spec) {
    const FieldSpec* const from = find(in, given.name);
    source.push_back(from == nullptr ? -1 : static_cast<int>(from - in.data()));
    const std::vector<Dim>& dims = given.shape;
    Field& field = fields.emplace_back();
    for (const Dim& dim : dims) {
      field.shape.push_back(dim.size);
    }
    const bool known = std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.fixed(); });
    if (const auto bytes = known ? bytes_of(given.dtype, field.shape) : std::nullopt) {
      field.fixed = true;
      field.bytes = *bytes;
    }
  }
  // A symbol stands for one size within the sample: each axis is compared with the first of its symbol.
  struct First {
    std::string_view symbol;
    std::size_t field;
    std::size_t axis;
  };
  std::vector<First> firsts;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    for (std::size_t axis = 0; axis < spec[i].shape.size(); ++axis) {
      const std::string& symbol = spec[i].shape[axis].symbol;
      if (symbol.empty()) {
        continue;
      }
      const auto same = std::find_if(firsts.begin(), firsts.end(), [&](const First& f) { return f.symbol == symbol; });
      if (same == firsts.end()) {
        firsts.push_back({symbol, i, axis});
      } else {
        twins.push_back({i, axis, same->field, same->axis});
      }
    }
  }
}

StageSample::StageSample(const Stage& stage, const Spec& in_spec, std::span<const Value> in, std::span<Value> out,
                         Arena& arena, Destination* destination)
    : stage_(stage), in_spec_(in_spec), in_(in), out_(out), arena_(arena), destination_(destination) {
  for (Value& value : out_) {
    value.set = false;
  }
}

Array StageSample::at(int field) const { return array_at(in_spec_, in_, field); }

Array StageSample::at(std::string_view name) const { return at(position_of(in_spec_, name, "input")); }

bool StageSample::fits(std::size_t field, Dtype dtype, std::span<const int64_t> shape) const noexcept {
  const FieldSpec& spec = stage_.spec[field];
  if (spec.dtype != dtype || spec.shape.size() != shape.size()) {
    return false;
  }
  if (part_ && static_cast<std::size_t>(part_->field) == field) {
    const bool rest =
        std::equal(spec.shape.begin() + 2, spec.shape.end(), shape.begin() + 2,
                   [](const Dim& dim, int64_t size) { return dim.fixed() ? dim.size == size : size >= 0; });
    return rest && shape[0] == part_->region.height && shape[1] == part_->region.width;
  }
  if (stage_.fields[field].fixed) {
    return std::equal(shape.begin(), shape.end(), stage_.fields[field].shape.begin());
  }
  return std::equal(spec.shape.begin(), spec.shape.end(), shape.begin(),
                    [](const Dim& dim, int64_t size) { return dim.fixed() ? dim.size == size : size >= 0; });
}

Array StageSample::allocate(int field, Dtype dtype, std::span<const int64_t> shape) {
  const FieldSpec& spec = field_at(stage_.spec, field, "output");
  const auto at = static_cast<std::size_t>(field);
  Value& value = out_[at];
  if (!fits(at, dtype, shape)) {
    if (part_ && part_->field == field) {
      refuse(fmt::format("allocates field \"{}\" as {}, but was asked for a region of {} times {}", spec.name,
                         text(dtype, shape), part_->region.height, part_->region.width));
    }
    refuse(fmt::format("allocates field \"{}\" as {}, but its spec says {}", spec.name, text(dtype, shape),
                       to_string(spec)));
  }
  if (!value.set) {
    const Stage::Field& known = stage_.fields[at];
    std::size_t bytes = known.bytes;
    if (known.fixed && !part_) {
      value.shape = known.shape;
    } else {
      bytes = bytes_of(spec, shape);
      value.keep(shape);
    }
    value.data = destination_ == nullptr ? nullptr : destination_->place(field, value.shape);
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

void StageSample::take_part(const Part& part) {
  const FieldSpec& spec = stage_.spec[static_cast<std::size_t>(part.field)];
  if (wrote(part.field)) {
    refuse(fmt::format("allocates field \"{}\" before it asks for the region", spec.name));
  }
  const auto contradicts = [](const Dim& dim, int64_t size) { return dim.fixed() && dim.size != size; };
  if (contradicts(spec.shape[0], part.whole.height) || contradicts(spec.shape[1], part.whole.width)) {
    refuse(fmt::format("says that field \"{}\" is of {} times {}, but its spec says {}", spec.name, part.whole.height,
                       part.whole.width, to_string(spec)));
  }
  part_ = part;
}

void StageSample::hand_on(std::size_t field) {
  const FieldSpec& spec = stage_.spec[field];
  const int source = stage_.source[field];
  if (source < 0) {
    refuse(fmt::format("does not allocate field \"{}\", which its spec promises as {}", spec.name, to_string(spec)));
  }
  const Value& from = in_[static_cast<std::size_t>(source)];
  const Dtype dtype = in_spec_[static_cast<std::size_t>(source)].dtype;
  if (!fits(field, dtype, from.shape)) {
    refuse(fmt::format("hands on field \"{}\" unchanged as {}, but its spec says {}", spec.name,
                       text(dtype, from.shape), to_string(spec)));
  }
  Value& value = out_[field];
  value.data = from.data;
  value.shape = from.shape;
  value.set = true;
  if (destination_ != nullptr) {
    void* const place = destination_->place(static_cast<int>(field), from.shape);
    const std::size_t bytes = bytes_of(spec, from.shape);
    if (place != nullptr && bytes > 0) {
      std::memcpy(place, from.data, bytes);
      value.data = place;
    }
  }
}

void StageSample::finish() {
  for (std::size_t i = 0; i < out_.size(); ++i) {
    if (!out_[i].set) {
      hand_on(i);
    }
  }
  check_twins();
}

void StageSample::check_twins() const {
  const auto size = [&](std::size_t field, std::size_t axis) {
    const bool of_whole = part_ && axis < 2 && static_cast<std::size_t>(part_->field) == field;
    if (!of_whole) {
      return out_[field].shape[axis];
    }
    return axis == 0 ? part_->whole.height : part_->whole.width;
  };
  for (const Stage::Twin& twin : stage_.twins) {
    const int64_t first = size(twin.first_field, twin.first_axis);
    const int64_t other = size(twin.field, twin.axis);
    if (first != other) {
      refuse(fmt::format("axis {} is {} in field \"{}\" and {} in field \"{}\"",
                         stage_.spec[twin.field].shape[twin.axis].symbol, first, stage_.spec[twin.first_field].name,
                         other, stage_.spec[twin.field].name));
    }
  }
}

Array FinishedSample::at(int field) const { return array_at(*spec_, values_, field); }

Array FinishedSample::at(std::string_view name) const { return at(position_of(*spec_, name, "input")); }

Array FinishedSample::allocate(int /*field*/, Dtype /*dtype*/, std::span<const int64_t> /*shape*/) {
  refuse("allocates a field of another sample, which is for reading alone");
}

Array FinishedSample::allocate(std::string_view /*name*/, Dtype dtype, std::span<const int64_t> shape) {
  return allocate(0, dtype, shape);
}

}  // namespace tenon::engine
