// dataset:split: a part of another dataset, found by what its samples hold and not by where they lie.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <files/share_out.hpp>
#include <files/unreadable.hpp>
#include <selection/selection.hpp>
#include <selection/try_read.hpp>
#include <split/assign.hpp>
#include <split/sample_bytes.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/random.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

enum class SplitPart { kTrain, kVal, kTest };
TENON_ENUM(SplitPart, "train", "val", "test")

struct SplitFractions {
  double train = 0.8;
  double val = 0.1;
  double test = 0.1;

  TENON_PARAMS(SplitFractions, field(&SplitFractions::train, "train", "Share of train").min(0).max(1),
               field(&SplitFractions::val, "val", "Share of val").min(0).max(1),
               field(&SplitFractions::test, "test", "Share of test").min(0).max(1))
};

struct SplitParams {
  SplitPart part = SplitPart::kTrain;
  SplitFractions fractions;
  std::string stratify;
  std::string group;
  int64_t seed = 0;

  TENON_PARAMS(SplitParams, field(&SplitParams::part, "part", "Part that this node gives").required(),
               field(&SplitParams::fractions, "fractions",
                     "Shares of the parts, with a sum of 1; the nodes of one input have to agree on them")
                   .agree(),
               field(&SplitParams::stratify, "stratify",
                     "Field, such as the label: every part gets its share of the samples of each value, exactly; "
                     "\"\" for none")
                   .agree(),
               field(&SplitParams::group, "group",
                     "Field, such as a patient's number: samples of one value all lie in one part; \"\" for none")
                   .agree(),
               field(&SplitParams::seed, "seed", "Another seed draws other parts").min(0).agree())
};

/// Without `stratify` the part of a sample follows from a hash of its own bytes (of the group's with `group`): rows that
/// come, go or move leave the others where they are, and equal samples lie in one part. With `stratify` the hashes order
/// the samples of a class, and its exact shares are cut from that order.
///
/// A sample that cannot be read lies in a part, too, and whoever reads it there is told why. Its place in the input stands
/// for its bytes, so that no two parts have it; its class or group is what the input's index tells, or else one of its own.
class Split final : public Selection, public Remarks {
 public:
  explicit Split(SplitParams params)
      : Selection("splits"),
        params_(std::move(params)),
        shares_{params_.fractions.train, params_.fractions.val, params_.fractions.test},
        part_(static_cast<int>(params_.part)) {
    const double sum = shares_[0] + shares_[1] + shares_[2];
    if (!(std::abs(sum - 1) <= 1e-9)) {
      throw Error(ErrorCode::kConfig,
                  "the fractions of train, val and test have a sum of " + std::to_string(sum) + ", not 1",
                  "/fractions");
    }
    if (shares_[static_cast<std::size_t>(part_)] <= 0) {
      throw Error(ErrorCode::kConfig, "part \"" + part_name() + "\" has a fraction of 0 and would be empty",
                  "/fractions/" + part_name());
    }
    if (!params_.stratify.empty() && !params_.group.empty()) {
      throw Error(ErrorCode::kConfig,
                  "groups that stay whole and exact shares of each class contradict each other: give stratify or group",
                  "/group");
    }
  }

  static Ports ports() { return {{Port::pass_all(), Port::any("$stratify"), Port::any("$group")}, {Port::pass_all()}}; }
  static std::vector<std::string> abilities() {
    std::vector<std::string> all = Selection::abilities();
    all.emplace_back(Remarks::kAbility);
    return all;
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Remarks::kAbility ? static_cast<Remarks*>(this) : Selection::ability(id);
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  [[nodiscard]] std::string fingerprint() const override {
    const uint64_t chosen = content_hash(std::as_bytes(std::span(indices_)));
    return "split-1:" + std::to_string(indices_.size()) + ":" + hex(chosen) + ":" + input().fingerprint();
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    if (unreadable_.count == 0) return {};
    return {unreadable_.told(size())};
  }

 private:
  void check(const Spec& fields) const override {
    require_field(fields, params_.stratify, "/stratify");
    require_field(fields, params_.group, "/group");
  }

  void choose(const Dataset& input) override {
    Unread unread;
    const std::vector<int8_t> parts = params_.stratify.empty() ? by_hash(input, unread) : by_class(input, unread);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == part_) indices_.push_back(static_cast<int64_t>(i));
    }
    for (const auto& [item, why] : unread) {
      if (parts[static_cast<std::size_t>(item)] == part_) unreadable_.add(item, why);
    }
    if (indices_.empty()) {
      throw Error(ErrorCode::kData,
                  "part \"" + part_name() + "\" of the " + std::to_string(parts.size()) +
                      " samples is empty: give it a larger fraction, or another seed",
                  "/fractions/" + part_name());
    }
  }

  [[nodiscard]] int64_t source(int64_t index) const noexcept override {
    return indices_[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] const std::string& part_name() const {
    return tenon_enum_names(params_.part).names[static_cast<std::size_t>(params_.part)];
  }

  static void require_field(const Spec& fields, const std::string& name, const std::string& pointer) {
    if (name.empty() || find(fields, name) != nullptr) return;
    std::string names;
    for (const FieldSpec& each : fields) names += (names.empty() ? "" : ", ") + each.name;
    throw Error(ErrorCode::kConfig, "the input has no field \"" + name + "\"; its fields: " + names, pointer);
  }

  [[nodiscard]] uint64_t seed() const { return static_cast<uint64_t>(params_.seed); }

  /// Of all fields, one by one.
  [[nodiscard]] uint64_t hash_of(const SampleBytes& sample, std::size_t fields) const {
    uint64_t hash = seed();
    for (std::size_t i = 0; i < fields; ++i) {
      hash = random_key({hash, content_hash(sample.field(static_cast<int>(i)))});
    }
    return hash;
  }

  /// Samples that cannot be read, and why.
  using Unread = std::map<int64_t, std::string>;

  /// Stands for the bytes of one.
  [[nodiscard]] uint64_t hash_of_unread(int64_t item) const {
    constexpr uint64_t kUnread = 0x756e72656164;  // apart from hashes of bytes
    return random_key({seed(), kUnread, static_cast<uint64_t>(item)});
  }

  /// The hash of a field of a sample that cannot be read, where the input's index tells its value.
  class IndexedField {
   public:
    IndexedField(const Columns* columns, FieldSpec field) : columns_(columns), field_(std::move(field)) {}

    [[nodiscard]] std::optional<uint64_t> hash(int64_t item) {
      if (columns_ == nullptr || !field_.shape.empty()) return std::nullopt;
      if (!std::exchange(asked_, true)) ask();
      if (!numbers_ || static_cast<std::size_t>(item) >= numbers_->size()) return std::nullopt;
      const auto bytes = bytes_of_number((*numbers_)[static_cast<std::size_t>(item)], field_.dtype);
      return bytes ? std::optional(content_hash(*bytes)) : std::nullopt;
    }

   private:
    /// An index that cannot tell for what is wrong with some item tells nothing.
    void ask() {
      try {
        numbers_ = columns_->column(field_.name);
      } catch (const Error& error) {
        if (!is_fault_of_item(error.code())) throw;
      }
    }

    const Columns* columns_;
    FieldSpec field_;
    bool asked_ = false;
    std::optional<std::vector<double>> numbers_;
  };

  /// Calls take(item, sample) with each sample of the input that can be read, on several threads at once. What take() does
  /// for an item must not depend on other items.
  template <class Take>
  [[nodiscard]] static Unread visit(const Dataset& input, const Take& take) {
    constexpr int64_t kRun = 16;  // samples that share memory
    const int64_t count = input.size();
    const Spec fields = input.spec();
    Unread unread;
    std::mutex mutex;
    share_out(static_cast<std::size_t>((count + kRun - 1) / kRun), [&](std::size_t run) {
      SampleBytes sample(fields);
      const int64_t first = static_cast<int64_t>(run) * kRun;
      for (int64_t item = first; item < std::min(first + kRun, count); ++item) {
        if (std::optional<std::string> why = try_read(input, item, sample)) {
          const std::scoped_lock lock(mutex);
          unread.emplace(item, *std::move(why));
        } else {
          take(static_cast<std::size_t>(item), sample);
        }
      }
    });
    return unread;
  }

  [[nodiscard]] std::vector<int8_t> by_hash(const Dataset& input, Unread& unread) const {
    std::vector<int8_t> parts(static_cast<std::size_t>(input.size()));
    const Spec fields = input.spec();
    const int group = params_.group.empty() ? -1 : index_of(fields, params_.group);
    const auto keyed = [&](uint64_t hash) { return random_key({seed(), hash}); };
    const auto part = [&](uint64_t hash) { return static_cast<int8_t>(part_of(hash, shares_)); };
    unread = visit(input, [&](std::size_t item, const SampleBytes& sample) {
      parts[item] = part(group < 0 ? hash_of(sample, fields.size()) : keyed(content_hash(sample.field(group))));
    });
    IndexedField groups(group < 0 ? nullptr : input_columns(), fields[static_cast<std::size_t>(std::max(group, 0))]);
    for (const auto& [item, why] : unread) {
      const std::optional<uint64_t> known = groups.hash(item);
      parts[static_cast<std::size_t>(item)] = part(known ? keyed(*known) : hash_of_unread(item));
    }
    return parts;
  }

  [[nodiscard]] std::vector<int8_t> by_class(const Dataset& input, Unread& unread) const {
    std::vector<Stratum> samples(static_cast<std::size_t>(input.size()));
    const Spec fields = input.spec();
    const int label = index_of(fields, params_.stratify);
    unread = visit(input, [&](std::size_t item, const SampleBytes& sample) {
      samples[item] = {hash_of(sample, fields.size()), random_key({seed(), content_hash(sample.field(label))})};
    });
    IndexedField labels(input_columns(), fields[static_cast<std::size_t>(label)]);
    const uint64_t no_class = hash_of_unread(-1);
    for (const auto& [item, why] : unread) {
      const std::optional<uint64_t> known = labels.hash(item);
      const uint64_t of_class = known ? random_key({seed(), *known}) : no_class;
      samples[static_cast<std::size_t>(item)] = {hash_of_unread(item), of_class};
    }
    return stratified(samples, shares_);
  }

  SplitParams params_;
  Shares shares_;
  int part_;
  std::vector<int64_t> indices_;
  UnreadableItems unreadable_;  // of this part
};

TENON_COMPONENT(
    Split, SplitParams, "split",
    "The train, val or test part of a dataset, drawn by a hash of each sample: by fractions, by class or by group")

}  // namespace tenon::datasets
