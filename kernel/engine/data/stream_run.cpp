// Runs samples through the stages and gives every failure its place.
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <core/text/readable.hpp>
#include <engine/data/stream.hpp>
#include <engine/data/thrown.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

/// Parts of keys that set the choice of further samples, and their random numbers, apart from a transform's own.
constexpr uint64_t kChoice = 0x6f7468657273;
constexpr uint64_t kOther = 0x62657369646573;

const Spec kNothing;

/// A component breaks the contract of one of its abilities.
class BrokenContract final : public Error {
 public:
  explicit BrokenContract(const std::string& message) : Error(ErrorCode::kPlugin, message) {}
};

bool within(const Region& region, const Extent& whole) {
  return region.top >= 0 && region.left >= 0 && region.height >= 1 && region.width >= 1 &&
         region.height <= whole.height && region.width <= whole.width && region.top <= whole.height - region.height &&
         region.left <= whole.width - region.width;
}

/// What is no fault of a sample: another machine, or another moment, has memory and files for it. So it is never left
/// out, and the result does not depend on that.
bool is_of_machine(ErrorCode code) noexcept { return code == ErrorCode::kMemory || code == ErrorCode::kStorage; }

/// The text with that name in it as a sentence may hold it.
std::string with_readable(const std::string& name, std::string text) {
  const std::string readable = core::one_line(name);
  if (name.empty() || readable == name) return text;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + readable.size())) {
    text.replace(at, name.size(), readable);
  }
  return text;
}

}  // namespace

/// Asks the cutting transform for its region while the dataset reads. What the transform throws is kept as it is, for
/// the dataset may wrap it on its way.
class Stream::Chooser {
 public:
  Chooser(const Stream& stream, const Trip& trip, StageSample& sample, Rng& random)
      : stream_(stream), trip_(trip), sample_(sample), random_(random) {
    part_.field = stream.abilities_->cut->field;
  }

  Region choose(const Extent& whole) {
    if (std::exchange(asked_, true)) {
      throw BrokenContract("read_part() asks for the region twice");
    }
    part_.whole = whole;
    try {
      const Stage& cutter = stream_.stages_[1];
      stream_.entering(cutter, "choose", trip_, [&] {
        const Region region =
            stream_.abilities_->cut->cutting->choose(whole, random_, {trip_.key.epoch, trip_.key.epochs});
        if (!within(region, whole)) {
          throw BrokenContract(fmt::format("choose() gives {} times {} at ({}, {}), out of an image of {} times {}",
                                           region.height, region.width, region.top, region.left, whole.height,
                                           whole.width));
        }
        part_.region = region;
      });
    } catch (const DataError& error) {
      failure_ = error;
      throw;
    }
    sample_.take_part(part_);
    return part_.region;
  }

  [[nodiscard]] bool asked() const noexcept { return asked_; }
  [[nodiscard]] const std::optional<DataError>& failure() const noexcept { return failure_; }
  [[nodiscard]] const Part& part() const noexcept { return part_; }

 private:
  const Stream& stream_;
  const Trip& trip_;
  StageSample& sample_;
  Rng& random_;
  Part part_;
  bool asked_ = false;
  std::optional<DataError> failure_;
};

Rng Stream::random_for(const Stage& stage, const SampleKey& key) const noexcept {
  return Rng(random_key({seed_, stage.key, static_cast<uint64_t>(key.epoch), static_cast<uint64_t>(key.index),
                         static_cast<uint64_t>(key.occurrence)}));
}

std::string Stream::place_of(const Trip& trip, const std::string& cause) const {
  std::string place = fmt::format("{} of \"{}\"", describe_sample(trip.key.index, cause), dataset_node());
  for (const Trip* inner = &trip; inner->outer != nullptr; inner = inner->outer) {
    place += fmt::format(", which \"{}\" takes beside sample {}", inner->taker->node, inner->outer->key.index);
  }
  return place + fmt::format(", epoch {}", trip.key.epoch);
}

/// Tells the exception that is being handled at its place. One that another stream told keeps its node.
void Stream::fail(const Stage& stage, const Trip& trip) const {
  const auto told = [&](const std::string& cause) {
    return fmt::format("\"{}\" ({}), {}: {}", stage.node, stage.component, place_of(trip, cause),
                       with_readable(item_name(trip.key.index), cause));
  };
  try {
    throw;
  } catch (const DataError& error) {
    throw DataError(error.code(), told(error.what()), error.node());
  } catch (const BrokenContract& error) {
    throw DataError(ErrorCode::kPlugin, told(error.what()), stage.node);
  } catch (const Error& error) {
    throw DataError(is_of_machine(error.code()) ? error.code() : ErrorCode::kData, told(error.what()), stage.node);
  } catch (const std::bad_alloc&) {
    throw DataError(ErrorCode::kMemory, told("out of memory"), stage.node);
  } catch (...) {
    throw DataError(ErrorCode::kData, told(thrown_text()), stage.node);
  }
}

template <class Body>
void Stream::entering(const Stage& stage, const char* method, const Trip& trip, const Body& body) const {
  const core::Entered entered(stage.callee, method, trip.key.index);
  try {
    body();
  } catch (...) {
    fail(stage, trip);
  }
}

void Stream::run(const SampleKey& key, Destination& destination, Workspace& workspace) const {
  run_to(stages_.size(), {key, workspace, &destination});
}

/// The first `end` stages.
void Stream::run_to(std::size_t end, const Trip& trip) const {
  Workspace& workspace = trip.workspace;
  workspace.arena_.reset();
  if (workspace.values_.size() != stages_.size()) {
    workspace.values_.resize(stages_.size());
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      workspace.values_[i].resize(stages_[i].spec.size());
    }
    workspace.views_.resize(stages_.front().spec.size());
  }
  std::size_t next = 0;
  if (in_memory()) {
    view(trip);
    next = 1;
  } else if (abilities_->cut && end >= 2) {
    read_cut(trip);
    next = 2;
  }
  for (; next < end; ++next) {
    run_stage(next, trip);
  }
}

StageSample Stream::sample_of(std::size_t index, const Trip& trip) const {
  std::vector<std::vector<Value>>& values = trip.workspace.values_;
  const bool first = index == 0;
  return {stages_[index],
          first ? kNothing : stages_[index - 1].spec,
          first ? std::span<const Value>() : values[index - 1],
          values[index],
          trip.workspace.arena_,
          index + 1 == stages_.size() ? trip.destination : nullptr};
}

void Stream::run_stage(std::size_t index, const Trip& trip) const {
  const Stage& stage = stages_[index];
  StageSample sample = sample_of(index, trip);
  if (stage.transform == nullptr) {
    entering(stage, "read", trip, [&] {
      dataset_->read(trip.key.index, sample);
      sample.finish();
    });
    return;
  }
  const When when{trip.key.epoch, trip.key.epochs};
  if (stage.multi == nullptr) {
    entering(stage, "apply", trip, [&] {
      Rng random = random_for(stage, trip.key);
      stage.transform->apply(sample, random, when);
      sample.finish();
    });
    return;
  }
  const std::span<const Sample* const> others = take_others(index, trip);
  entering(stage, "apply_with", trip, [&] {
    Rng random = random_for(stage, trip.key);
    stage.multi->apply_with(sample, others, random, when);
    sample.finish();
  });
}

/// Further samples for a stage, behind those before it. Keys of their own: as another's companion a sample is not what
/// it is at its own turn.
std::span<const Sample* const> Stream::take_others(std::size_t index, const Trip& trip) const {
  const Stage& stage = stages_[index];
  const auto count = static_cast<std::size_t>(stage.others);
  Workspace& workspace = trip.workspace;
  workspace.finished_.clear();
  workspace.samples_.clear();
  if (count == 0) {
    return {};
  }
  while (workspace.others_.size() < count) {
    workspace.others_.push_back(std::make_unique<Workspace>());
  }
  const SampleKey& key = trip.key;
  const auto part = [](int64_t number) { return static_cast<uint64_t>(number); };
  Rng choice(random_key({seed_, stage.key, part(key.epoch), part(key.index), part(key.occurrence), kChoice}));
  const int64_t last = size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    Workspace& own = *workspace.others_[i];
    const uint64_t occurrence = random_key({stage.key, part(key.index), part(key.occurrence), i, kOther});
    const SampleKey other{choice.integer(0, last), key.epoch, key.epochs, static_cast<int64_t>(occurrence)};
    run_to(index, {other, own, nullptr, &trip, &stage});
    workspace.finished_.emplace_back(stages_[index - 1].spec, own.values_[index - 1]);
  }
  for (const FinishedSample& sample : workspace.finished_) {
    workspace.samples_.push_back(&sample);
  }
  return workspace.samples_;
}

/// The dataset's values where they lie.
void Stream::view(const Trip& trip) const {
  const Stage& stage = stages_.front();
  Workspace& workspace = trip.workspace;
  const core::Entered entered(stage.callee, "view", trip.key.index);
  look_at(trip.key, workspace.views_);
  std::vector<Value>& values = workspace.values_.front();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stage::Field& field = stage.fields[i];
    values[i].data = const_cast<std::byte*>(workspace.views_[i]);  // arrays of a sample's input are read alone
    values[i].shape = field.shape;
    values[i].set = true;
    if (stages_.size() > 1 || trip.destination == nullptr) {
      continue;
    }
    void* const place = trip.destination->place(static_cast<int>(i), field.shape);
    if (place != nullptr && field.bytes > 0) {
      std::memcpy(place, workspace.views_[i], field.bytes);
    }
  }
}

/// The first two stages: the dataset reads the region that the transform looks at.
void Stream::read_cut(const Trip& trip) const {
  const CutReading& cut = *abilities_->cut;
  const Stage& cutter = stages_[1];
  Rng random = random_for(cutter, trip.key);
  StageSample whole = sample_of(0, trip);
  Chooser chooser(*this, trip, whole, random);
  try {
    entering(stages_.front(), "read_part", trip, [&] {
      cut.reader->read_part(
          trip.key.index, [&chooser](const Extent& extent) { return chooser.choose(extent); }, whole);
      if (!chooser.asked()) {
        throw BrokenContract("read_part() does not ask for the region");
      }
      whole.finish();
    });
  } catch (const DataError&) {
    if (chooser.failure()) {
      throw DataError(*chooser.failure());
    }
    throw;
  }
  if (chooser.failure()) {  // the dataset went on regardless
    throw DataError(*chooser.failure());
  }
  StageSample sample = sample_of(1, trip);
  entering(cutter, "apply_cut", trip, [&] {
    const Part& part = chooser.part();
    cut.cutting->apply_cut(sample, part.whole, part.region, random, {trip.key.epoch, trip.key.epochs});
    sample.finish();
  });
}

}  // namespace tenon::engine
