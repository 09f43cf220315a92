// dataset:split: a part of another dataset, found by what its samples hold and not by where they lie.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <split/assign.hpp>
#include <split/sample_bytes.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/derived.hpp>
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
class Split final : public Dataset, public Derived {
 public:
  explicit Split(SplitParams params)
      : params_(std::move(params)),
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
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {Derived::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Derived::kAbility ? static_cast<Derived*>(this) : nullptr;
  }

  void derive(std::span<const Spec> inputs) override {
    require_one(inputs.size());
    spec_ = inputs.front();
    require_field(params_.stratify, "/stratify");
    require_field(params_.group, "/group");
  }

  [[nodiscard]] Spec spec() const override {
    if (spec_.empty()) require_one(0);
    return spec_;
  }

  void open(std::span<Dataset* const> inputs) override {
    require_one(inputs.size());
    input_ = inputs.front();
    const std::vector<int8_t> parts = params_.stratify.empty() ? by_hash() : by_class();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == part_) indices_.push_back(static_cast<int64_t>(i));
    }
    if (indices_.empty()) {
      throw Error(ErrorCode::kData,
                  "part \"" + part_name() + "\" of the " + std::to_string(parts.size()) +
                      " samples is empty: give it a larger fraction, or another seed",
                  "/fractions/" + part_name());
    }
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  [[nodiscard]] std::string fingerprint() const override {
    const uint64_t chosen = content_hash(std::as_bytes(std::span(indices_)));
    return "split-1:" + std::to_string(indices_.size()) + ":" + hex(chosen) + ":" + input_->fingerprint();
  }

  void read(int64_t index, Sample& out) const override {
    input_->read(indices_.at(static_cast<std::size_t>(index)), out);
  }

 private:
  [[nodiscard]] const std::string& part_name() const {
    return tenon_enum_names(params_.part).names[static_cast<std::size_t>(params_.part)];
  }

  static void require_one(std::size_t inputs) {
    if (inputs == 1) return;
    throw Error(ErrorCode::kConfig,
                "splits one dataset, and has " + std::to_string(inputs) + " as input: name one node in \"in\"");
  }

  void require_field(const std::string& name, const std::string& pointer) const {
    if (name.empty() || find(spec_, name) != nullptr) return;
    std::string names;
    for (const FieldSpec& each : spec_) names += (names.empty() ? "" : ", ") + each.name;
    throw Error(ErrorCode::kConfig, "the input has no field \"" + name + "\"; its fields: " + names, pointer);
  }

  [[nodiscard]] uint64_t seed() const { return static_cast<uint64_t>(params_.seed); }

  /// Of all fields, one by one.
  [[nodiscard]] uint64_t hash_of(const SampleBytes& sample) const {
    uint64_t hash = seed();
    for (std::size_t i = 0; i < spec_.size(); ++i) {
      hash = random_key({hash, content_hash(sample.field(static_cast<int>(i)))});
    }
    return hash;
  }

  /// Calls `take` with each sample of the input.
  template <class Take>
  void visit(const Take& take) const {
    SampleBytes sample(spec_);
    for (int64_t i = 0; i < input_->size(); ++i) {
      try {
        input_->read(i, sample);
      } catch (const Error& error) {
        throw Error(error.code(), "sample " + std::to_string(i) + " of the input: " + error.what());
      }
      take(sample);
    }
  }

  [[nodiscard]] std::vector<int8_t> by_hash() const {
    std::vector<int8_t> parts;
    const int group = params_.group.empty() ? -1 : index_of(spec_, params_.group);
    visit([&](const SampleBytes& sample) {
      const uint64_t hash = group < 0 ? hash_of(sample) : random_key({seed(), content_hash(sample.field(group))});
      parts.push_back(static_cast<int8_t>(part_of(hash, shares_)));
    });
    return parts;
  }

  [[nodiscard]] std::vector<int8_t> by_class() const {
    std::vector<Stratum> samples;
    const int label = index_of(spec_, params_.stratify);
    visit([&](const SampleBytes& sample) {
      samples.push_back({hash_of(sample), random_key({seed(), content_hash(sample.field(label))})});
    });
    return stratified(samples, shares_);
  }

  SplitParams params_;
  Shares shares_;
  int part_;
  Spec spec_;
  const Dataset* input_ = nullptr;
  std::vector<int64_t> indices_;
};

TENON_COMPONENT(
    Split, SplitParams, "split",
    "The train, val or test part of a dataset, drawn by a hash of each sample: by fractions, by class or by group")

}  // namespace tenon::datasets
