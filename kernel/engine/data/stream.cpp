// From components to stages: what each gives, and which of its abilities the stream makes use of.
#include <engine/data/stream.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <core/text/readable.hpp>
#include <engine/data/thrown.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

constexpr std::size_t kMostPrefetched = 8;      // fields
constexpr std::size_t kLongestPrefetch = 4096;  // bytes; the processor goes on by itself
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kAhead = 2;  // items

std::string who(const Stage& stage) { return fmt::format("\"{}\" ({})", stage.node, stage.component); }

[[noreturn]] void refuse(const Stage& stage, const std::string& what) {
  throw Error(ErrorCode::kPlugin, fmt::format("{}: {}", who(stage), what));
}

void check(const Stage& stage) {
  if (stage.spec.empty()) {
    refuse(stage, "its spec has no fields");
  }
  for (const FieldSpec& field : stage.spec) {
    if (find(stage.spec, field.name) != &field) {
      refuse(stage, fmt::format("its spec names field \"{}\" twice", field.name));
    }
    for (const Dim& dim : field.shape) {
      if (dim.fixed() && dim.size < 0) {
        refuse(stage, fmt::format("its spec gives field \"{}\" an axis of {}", field.name, dim.size));
      }
    }
  }
}

template <class Ask>
void ask_spec(Stage& stage, const Ask& ask) {
  const core::Entered entered(stage.callee, "spec");
  try {
    stage.spec = ask();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", who(stage), error.what()), error.pointer());
  } catch (...) {
    refuse(stage, thrown_text());
  }
  check(stage);
}

/// Whether the text has these words, and not only as a part of longer ones.
bool mentions(std::string_view text, std::string_view words) {
  const auto splits = [&](std::size_t at) {
    return at >= text.size() || std::isalnum(static_cast<unsigned char>(text[at])) == 0;
  };
  if (words.empty()) return true;
  for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    if ((at == 0 || splits(at - 1)) && splits(at + words.size())) return true;
  }
  return false;
}

/// What of a name the text does not tell already: all of it, or the place behind the file.
std::string untold(const std::string& name, std::string_view text) {
  if (mentions(text, name)) return {};
  const std::size_t place = name.find(", ");
  return place != std::string::npos && mentions(text, name.substr(0, place)) ? name.substr(place + 2) : name;
}

/// ability() changes nothing; it is not const because it hands out the component.
template <class Ability>
const Ability* ability_of(const Component& component) {
  return static_cast<const Ability*>(const_cast<Component&>(component).ability(Ability::kAbility));
}

}  // namespace

Stream::Stream(DatasetNode dataset, std::vector<TransformNode> transforms, uint64_t seed)
    : dataset_(dataset.dataset), seed_(seed) {
  stages_.reserve(transforms.size() + 1);
  Stage first{.node = std::move(dataset.node), .component = std::move(dataset.component), .callee = dataset.callee};
  ask_spec(first, [&] { return dataset_->spec(); });
  first.plan({});
  stages_.push_back(std::move(first));
  for (TransformNode& transform : transforms) {
    const Spec& in = stages_.back().spec;
    const uint64_t key = name_key(transform.node);
    Stage stage{.node = std::move(transform.node),
                .component = std::move(transform.component),
                .key = key,
                .transform = transform.transform,
                .multi = ability_of<MultiSample>(*transform.transform),
                .callee = transform.callee};
    ask_spec(stage, [&] { return stage.transform->spec(in); });
    stage.plan(in);
    if (stage.multi != nullptr) {
      stage.others = stage.multi->others();
      if (stage.others < 0) {
        refuse(stage, fmt::format("wants {} further samples", stage.others));
      }
    }
    stages_.push_back(std::move(stage));
  }
}

const Stream::Abilities& Stream::abilities() const noexcept {
  std::call_once(abilities_->once, [this] { find_abilities(); });
  return *abilities_;
}

void Stream::find_abilities() const noexcept {
  const Stage& first = stages_.front();
  const auto fixed = [](const Stage::Field& field) { return field.fixed; };
  if (std::all_of(first.fields.begin(), first.fields.end(), fixed)) {
    abilities_->in_memory = ability_of<InMemory>(*dataset_);
  }
  abilities_->item_names = ability_of<ItemNames>(*dataset_);
  const Stage* const next = stages_.size() > 1 ? &stages_[1] : nullptr;
  if (next == nullptr || next->multi != nullptr) {
    return;
  }
  CutReading cut{.reader = ability_of<PartialRead>(*dataset_), .cutting = ability_of<Cutting>(*next->transform)};
  if (cut.reader == nullptr || cut.cutting == nullptr) {
    return;
  }
  const FieldSpec* const field = find(first.spec, cut.reader->partial_field());
  if (field == nullptr || field->shape.size() < 2 || cut.cutting->cut_field() != field->name) {
    return;
  }
  cut.field = static_cast<int>(field - first.spec.data());
  abilities_->cut = cut;
}

int64_t Stream::size() const {
  const core::Entered entered(stages_.front().callee, "size");
  try {
    return dataset_->size();
  } catch (...) {
    throw Error(ErrorCode::kData, fmt::format("{}: {}", who(stages_.front()), thrown_text()));
  }
}

std::string Stream::item_name(int64_t item) const noexcept {
  const ItemNames* const names = abilities().item_names;
  if (names == nullptr || item < 0) return {};
  const core::Entered entered(stages_.front().callee, "item_name", item);
  try {
    return names->item_name(item);
  } catch (...) {
    return {};  // whoever asks has something worse to tell
  }
}

std::string Stream::describe_sample(int64_t item, std::string_view cause) const {
  const std::string name = untold(item_name(item), cause);
  return name.empty() ? fmt::format("sample {}", item) : fmt::format("sample {} ({})", item, core::one_line(name));
}

/// The caller is in "view" until it has read what lies there: a file that became shorter is found out by that alone.
void Stream::look_at(const SampleKey& key, std::span<const std::byte*> views) const {
  const Stage& stage = stages_.front();
  std::fill(views.begin(), views.end(), nullptr);
  abilities().in_memory->view(key.index, views);
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i] == nullptr && stage.fields[i].bytes > 0) explain_missing(key, i);
  }
}

/// view() has no words for what is wrong with an item; read() has.
void Stream::explain_missing(const SampleKey& key, std::size_t field) const {
  const Stage& stage = stages_.front();
  const core::Entered entered(stage.callee, "read", key.index);
  Workspace workspace;
  const Trip trip{key, workspace, nullptr};
  try {
    const Spec nothing;
    std::vector<Value> values(stage.spec.size());
    StageSample sample(stage, nothing, {}, values, workspace.arena_, nullptr);
    dataset_->read(key.index, sample);
  } catch (...) {
    fail(stage, trip);
  }
  throw DataError(ErrorCode::kPlugin,
                  fmt::format("{}, {}: view() does not tell where field \"{}\" lies", who(stage),
                              describe_sample(key.index), stage.spec[field].name),
                  stage.node);
}

void Stream::prefetch(int64_t item) const noexcept {
  const std::vector<Stage::Field>& known = stages_.front().fields;
  std::array<const std::byte*, kMostPrefetched> views{};
  if (known.size() > views.size()) {
    return;
  }
  const core::Entered entered(stages_.front().callee, "view", item);
  abilities().in_memory->view(item, std::span(views).first(known.size()));
  for (std::size_t field = 0; field < known.size(); ++field) {
    const std::size_t bytes = std::min(known[field].bytes, kLongestPrefetch);
    for (std::size_t at = 0; views[field] != nullptr && at < bytes; at += kCacheLine) {
      __builtin_prefetch(views[field] + at);
    }
  }
}

void Stream::copy(std::span<const int64_t> items, std::span<std::byte* const> fields, std::atomic<int64_t>& at) const {
  const std::vector<Stage::Field>& known = stages_.front().fields;
  std::vector<const std::byte*> views(known.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + kAhead < items.size()) {
      at.store(items[i + kAhead], std::memory_order_relaxed);
      prefetch(items[i + kAhead]);
    }
    at.store(items[i], std::memory_order_relaxed);
    const core::Entered entered(stages_.front().callee, "view", items[i]);
    look_at({.index = items[i]}, views);
    for (std::size_t field = 0; field < known.size(); ++field) {
      const std::size_t bytes = known[field].bytes;
      if (bytes > 0) {
        std::memcpy(fields[field] + i * bytes, views[field], bytes);
      }
    }
  }
}

}  // namespace tenon::engine
