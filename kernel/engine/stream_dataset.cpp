// Reads samples of a stream into the sample of whoever reads it.
#include <engine/stream_dataset.hpp>

#include <algorithm>
#include <utility>

#include <core/storage/sha256.hpp>

namespace tenon::engine {
namespace {

/// The reader's own sample: its memory is where the last stage writes.
class Reader final : public Destination {
 public:
  Reader(const Spec& fields, Sample& out) : fields_(fields), out_(out) {}

  [[nodiscard]] void* place(int field, std::span<const int64_t> shape) override {
    return out_.allocate(field, fields_[static_cast<std::size_t>(field)].dtype, shape).data;
  }

 private:
  const Spec& fields_;
  Sample& out_;
};

/// Asked each time: a dataset over others may know no earlier than when it is open.
const Categorical* categorical_of(const ClassSource& source) {
  if (source.component == nullptr) return nullptr;
  return static_cast<const Categorical*>(source.component->ability(Categorical::kAbility));
}

}  // namespace

/// A workspace for one read. Reads on many threads, and reads within reads, each have their own.
class StreamDataset::Lent {
 public:
  explicit Lent(const StreamDataset& owner) : owner_(owner) {
    const std::lock_guard lock(owner_.mutex_);
    if (!owner_.idle_.empty()) {
      workspace_ = std::move(owner_.idle_.back());
      owner_.idle_.pop_back();
    } else {
      workspace_ = std::make_unique<Workspace>();
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.idle_.push_back(std::move(workspace_));
  }

  [[nodiscard]] Workspace& workspace() const noexcept { return *workspace_; }

 private:
  const StreamDataset& owner_;
  std::unique_ptr<Workspace> workspace_;
};

StreamDataset::StreamDataset(Stream stream, const Dataset& source, std::string identity,
                             std::vector<ClassSource> classes)
    : stream_(std::move(stream)), source_(source), identity_(std::move(identity)), classes_(std::move(classes)) {}

void* StreamDataset::ability(const char* id) noexcept {
  const std::string_view wanted(id);
  if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
  const bool knows = wanted == Categorical::kAbility && std::ranges::any_of(classes_, [](const ClassSource& source) {
                       return categorical_of(source) != nullptr;
                     });
  return knows ? static_cast<Categorical*>(this) : nullptr;
}

std::optional<std::vector<std::string>> StreamDataset::categories(std::string_view field) const {
  const Spec& fields = stream_.fields();
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const Categorical* const known = fields[i].name == field ? categorical_of(classes_[i]) : nullptr;
    if (known != nullptr) return known->categories(classes_[i].field);
  }
  return std::nullopt;
}

std::string StreamDataset::fingerprint() const {
  core::Sha256 hash;
  hash.update(source_.fingerprint());
  hash.update("\n" + identity_);
  return hash.digest();
}

void StreamDataset::read(int64_t index, Sample& out) const {
  const Lent lent(*this);
  Reader reader(stream_.fields(), out);
  stream_.run({.index = index}, reader, lent.workspace());
}

}  // namespace tenon::engine
