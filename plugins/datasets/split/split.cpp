// dataset:split: a part of another dataset, found by what its samples hold and not by where they lie.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <selection/selection.hpp>
#include <split/assign.hpp>
#include <split/sample_bytes.hpp>
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
class Split final : public Selection {
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

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  [[nodiscard]] std::string fingerprint() const override {
    const uint64_t chosen = content_hash(std::as_bytes(std::span(indices_)));
    return "split-1:" + std::to_string(indices_.size()) + ":" + hex(chosen) + ":" + input().fingerprint();
  }

 private:
  void check(const Spec& fields) const override {
    require_field(fields, params_.stratify, "/stratify");
    require_field(fields, params_.group, "/group");
  }

  void choose(const Dataset& input) override {
    const std::vector<int8_t> parts = params_.stratify.empty() ? by_hash(input) : by_class(input);
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

  /// Calls `take` with each sample of the input.
  template <class Take>
  static void visit(const Dataset& input, const Take& take) {
    SampleBytes sample(input.spec());
    for (int64_t i = 0; i < input.size(); ++i) {
      try {
        input.read(i, sample);
      } catch (const Error& error) {
        throw Error(error.code(), "sample " + std::to_string(i) + " of the input: " + error.what() +
                                      "; a split reads every sample once: mend or remove this one");
      }
      take(sample);
    }
  }

  [[nodiscard]] std::vector<int8_t> by_hash(const Dataset& input) const {
    std::vector<int8_t> parts;
    const Spec fields = input.spec();
    const int group = params_.group.empty() ? -1 : index_of(fields, params_.group);
    visit(input, [&](const SampleBytes& sample) {
      const uint64_t hash =
          group < 0 ? hash_of(sample, fields.size()) : random_key({seed(), content_hash(sample.field(group))});
      parts.push_back(static_cast<int8_t>(part_of(hash, shares_)));
    });
    return parts;
  }

  [[nodiscard]] std::vector<int8_t> by_class(const Dataset& input) const {
    std::vector<Stratum> samples;
    const Spec fields = input.spec();
    const int label = index_of(fields, params_.stratify);
    visit(input, [&](const SampleBytes& sample) {
      samples.push_back({hash_of(sample, fields.size()), random_key({seed(), content_hash(sample.field(label))})});
    });
    return stratified(samples, shares_);
  }

  SplitParams params_;
  Shares shares_;
  int part_;
  std::vector<int64_t> indices_;
};

TENON_COMPONENT(
    Split, SplitParams, "split",
    "The train, val or test part of a dataset, drawn by a hash of each sample: by fractions, by class or by group")

}  // namespace tenon::datasets
