// The second half of a batch: samples that are left out, values that are padded or joined, lengths and masks.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <engine/data/batch_job.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

std::string text(std::span<const int64_t> shape) { return to_string(std::vector<Dim>(shape.begin(), shape.end())); }

/// True up to the sizes of `from`, false behind them.
void mark(std::byte* place, std::span<const int64_t> to, std::span<const int64_t> from) {
  if (to.size() == 1) {
    std::memset(place, 1, static_cast<std::size_t>(from.front()));
    std::memset(place + from.front(), 0, static_cast<std::size_t>(to.front() - from.front()));
    return;
  }
  const int64_t inner = elements(to.subspan(1));
  for (int64_t row = 0; row < from.front(); ++row) {
    mark(place + row * inner, to.subspan(1), from.subspan(1));
  }
  std::memset(place + from.front() * inner, 0, static_cast<std::size_t>((to.front() - from.front()) * inner));
}

}  // namespace

/// Runs once, when all samples are made; what it throws is told by finish().
void BatchJob::assemble() {
  if (failure_) {
    return;
  }
  try {
    // Not before: until all samples are made, threads look at those of their neighbours, to fetch them ahead.
    for (const auto& [task, bad] : bad_) {
      if (bad.substitute >= 0) request_.samples[task] = bad.substitute;
    }
    for (std::size_t task = 0; task < request_.samples.size(); ++task) {
      if (lost_.empty() || lost_[task] == 0) {
        kept_.push_back(task);
        batch_.sample_ids.push_back(request_.samples[task]);
      }
    }
    std::sort(bad_.begin(), bad_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [task, bad] : bad_) {
      batch_.bad.push_back(std::move(bad));
    }
    batch_.samples = static_cast<int64_t>(kept_.size());
    batch_.epoch = request_.epoch;
    batch_.index = request_.index;
    for (const FieldSpec& field : layout_.outputs) {
      batch_.fields.push_back({field.name, field.dtype, {}, nullptr});
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      assemble_field(i);
    }
  } catch (const Error&) {
    error_ = std::current_exception();
  } catch (const std::exception& error) {
    error_ = std::make_exception_ptr(
        Error(ErrorCode::kMemory, fmt::format("no memory for batch {} of epoch {}, of {} samples: {}", request_.index,
                                              request_.epoch, request_.samples.size(), error.what())));
  }
}

void BatchJob::assemble_field(std::size_t index) {
  const BatchLayout::Field& known = layout_.fields[index];
  Field& field = fields_[index];
  if (known.fixed) {
    compact(field);
  } else if (known.how == Collate::kStack) {
    stack(index);
  } else if (known.how == Collate::kPad) {
    pad(index);
  } else {
    join(index);
  }
  BatchField& made = batch_.fields[index];
  made.data = field.data;
  if (known.how != Collate::kList) {
    made.shape.reserve(field.shape.size() + 1);
    made.shape.push_back(batch_.samples);
  }
  made.shape.insert(made.shape.end(), field.shape.begin(), field.shape.end());
  if (known.length >= 0) {
    add_lengths(index);
  }
  if (known.mask >= 0) {
    add_mask(index);
  }
}

/// Closes the gaps of samples that are left out.
void BatchJob::compact(Field& field) const {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i] != i && field.stride > 0) {
      std::memcpy(field.data + i * field.stride, field.data + kept_[i] * field.stride, field.stride);
    }
  }
}

/// Every sample has gone through, so the one that is blamed is the same on any number of threads.
void BatchJob::stack(std::size_t index) {
  Field& field = fields_[index];
  Shape shape = layout_.fields[index].shape;
  if (!kept_.empty()) {
    const std::span<const int64_t> first = sizes_of(index, kept_.front());
    for (const std::size_t task : kept_) {
      const std::span<const int64_t> own = sizes_of(index, task);
      if (!std::equal(own.begin(), own.end(), first.begin())) {
        refuse_shapes(index, task);
      }
    }
    shape.assign(first.begin(), first.end());
  }
  if (field.data != nullptr && shape == field.shape) {
    compact(field);
    return;
  }
  // The first to arrive was a bad sample of another shape: the others are in scratch.
  field.shape = shape;
  shape.insert(shape.begin(), batch_.samples);
  field.data = reserve(index, shape);
  field.stride = static_cast<std::size_t>(elements(field.shape)) * size_of(layout_.fields[index].dtype);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    std::copy_n(field.values[kept_[i]], field.stride, field.data + i * field.stride);
  }
}

void BatchJob::pad(std::size_t index) {
  const BatchLayout::Field& known = layout_.fields[index];
  Field& field = fields_[index];
  field.shape = known.shape;
  for (const std::size_t axis : known.free_axes) {
    if (known.to) {
      continue;
    }
    int64_t& size = field.shape[axis];
    for (const std::size_t task : kept_) {
      size = std::max(size, sizes_of(index, task)[axis]);
    }
    size += (known.multiple - size % known.multiple) % known.multiple;
  }
  Shape whole = field.shape;
  whole.insert(whole.begin(), batch_.samples);
  field.data = reserve(index, whole);
  field.stride = static_cast<std::size_t>(elements(field.shape)) * known.fill.size;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    copy_padded(field.data + i * field.stride, field.shape, field.values[kept_[i]], sizes_of(index, kept_[i]),
                known.fill);
  }
}

void BatchJob::join(std::size_t index) {
  const BatchLayout::Field& known = layout_.fields[index];
  Field& field = fields_[index];
  field.shape = known.shape;
  field.shape.front() = 0;
  for (const std::size_t task : kept_) {
    const std::span<const int64_t> sizes = sizes_of(index, task);
    const std::span<const int64_t> first = sizes_of(index, kept_.front());
    if (!std::equal(sizes.begin() + 1, sizes.end(), first.begin() + 1)) {
      refuse_shapes(index, task);
    }
    const int64_t total = field.shape.front() + sizes.front();
    field.shape.assign(sizes.begin(), sizes.end());
    field.shape.front() = total;
  }
  field.data = reserve(index, field.shape);
  std::byte* next = field.data;
  for (const std::size_t task : kept_) {
    const std::size_t bytes = static_cast<std::size_t>(elements(sizes_of(index, task))) * size_of(known.dtype);
    next = std::copy_n(field.values[task], bytes, next);
  }
}

void BatchJob::add_lengths(std::size_t index) {
  const BatchLayout::Field& known = layout_.fields[index];
  const bool is_list = known.how == Collate::kList;
  const auto output = static_cast<std::size_t>(known.length);
  const std::size_t axes = is_list ? 1 : known.free_axes.size();
  BatchField& made = batch_.fields[output];
  made.shape = {batch_.samples};
  if (axes > 1) {
    made.shape.push_back(static_cast<int64_t>(axes));
  }
  std::byte* const data = reserve(output, made.shape);
  made.data = data;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    for (std::size_t j = 0; j < axes; ++j) {
      const int64_t size = sizes_of(index, kept_[i])[is_list ? 0 : known.free_axes[j]];
      std::memcpy(data + (i * axes + j) * sizeof size, &size, sizeof size);
    }
  }
}

void BatchJob::add_mask(std::size_t index) {
  const BatchLayout::Field& known = layout_.fields[index];
  const auto output = static_cast<std::size_t>(known.mask);
  Shape to;
  for (const std::size_t axis : known.free_axes) {
    to.push_back(fields_[index].shape[axis]);
  }
  BatchField& made = batch_.fields[output];
  made.shape = to;
  made.shape.insert(made.shape.begin(), batch_.samples);
  std::byte* const data = reserve(output, made.shape);
  made.data = data;
  Shape from(to.size());
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const std::span<const int64_t> sizes = sizes_of(index, kept_[i]);
    std::transform(known.free_axes.begin(), known.free_axes.end(), from.begin(),
                   [&](std::size_t axis) { return sizes[axis]; });
    mark(data + static_cast<std::ptrdiff_t>(i) * elements(to), to, from);
  }
}

std::byte* BatchJob::reserve(std::size_t output, std::span<const int64_t> shape) {
  auto bytes = static_cast<int64_t>(size_of(layout_.outputs[output].dtype));
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      throw Error(ErrorCode::kMemory, fmt::format("field \"{}\" of batch {} would be {}, more than any memory holds",
                                                  layout_.outputs[output].name, request_.index, text(shape)));
    }
  }
  return static_cast<std::byte*>(slot_->reserve(output, static_cast<std::size_t>(bytes)));
}

std::span<const int64_t> BatchJob::sizes_of(std::size_t index, std::size_t task) const {
  const std::size_t axes = layout_.fields[index].shape.size();
  return std::span(fields_[index].sizes).subspan(task * axes, axes);
}

void BatchJob::refuse_shapes(std::size_t index, std::size_t task) const {
  const FieldSpec& field = layout_.spec[index];
  const BatchLayout::Field& known = layout_.fields[index];
  const std::size_t first = kept_.front();
  std::string advice;
  if (known.how == Collate::kList) {
    advice = "values of a list differ on their first axis alone: crop or resize the others to one size";
  } else {
    if (may_be_text(field)) {
      advice = "if it names a category, put transform:encode_categories before the loader; if not, ";
    }
    advice += fmt::format("crop or resize them to one shape, or give the loader \"pad\": [{{ \"field\": \"{}\" }}]",
                          field.name);
    const bool can_join = known.free_axes.size() == 1 && known.free_axes.front() == 0;
    if (can_join) {
      advice += fmt::format(" or \"lists\": [\"{}\"]", field.name);
    }
  }
  throw DataError(ErrorCode::kData,
                  fmt::format("field \"{}\" has different shapes within batch {} of epoch {} of \"{}\": {} has "
                              "{}, {}, the first of the batch, has {}; {}",
                              field.name, request_.index, request_.epoch, stream_.dataset_node(),
                              stream_.describe_sample(request_.samples[task]), text(sizes_of(index, task)),
                              stream_.describe_sample(request_.samples[first]), text(sizes_of(index, first)), advice),
                  "", field.name);
}

}  // namespace tenon::engine
