// model:bigram: a table of logits, a row a token.
#include <algorithm>
#include <memory>
#include <string>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/error.hpp>
#include <tenon/nn/init.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/registration.hpp>

namespace tenon::models {

struct BigramParams {
  int64_t vocabulary = 0;

  TENON_PARAMS(
      BigramParams,
      field(&BigramParams::vocabulary, "vocabulary", "Number of tokens: 0 to vocabulary - 1").min(1).required())
};

namespace {

class Table final : public nn::Module {
 public:
  explicit Table(int64_t vocabulary)
      : vocabulary_(vocabulary), table_(this, "table", {vocabulary, vocabulary}, nn::constant(0)) {}

 protected:
  Tensors forward(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& tokens = in.at("tokens");
    check(tokens);
    return {{"logits", at::embedding(table_, tokens).transpose(1, 2)}};
  }

 private:
  /// Reads the values on the host alone: elsewhere that would wait for the device, and libtorch's own assertion serves.
  void check(const at::Tensor& tokens) const {
    if (!tokens.is_cpu()) return;
    const at::Tensor contiguous = tokens.to(at::kLong).contiguous();
    const auto* const values = contiguous.const_data_ptr<int64_t>();
    const int64_t* const end = values + contiguous.numel();
    const int64_t* const bad = std::find_if(values, end, [&](int64_t each) { return each < 0 || each >= vocabulary_; });
    if (bad == end) return;
    throw Error(ErrorCode::kData, "token " + std::to_string(*bad) + " is not in the vocabulary of " +
                                      std::to_string(vocabulary_) + " (0 to " + std::to_string(vocabulary_ - 1) + ")");
  }

  int64_t vocabulary_;
  nn::Param table_;
};

}  // namespace

/// logits[n, :, t] = table[tokens[n, t], :]. It starts with all tokens alike; trained to the end, its loss is the entropy
/// of a token given the one before it.
class Bigram final : public Model {
 public:
  explicit Bigram(const BigramParams& params) : vocabulary_(params.vocabulary) {}

  static Ports ports() {
    return {{Port::of("tokens", {Dtype::kInt64}, {"N", "T"})},
            {Port::of("logits", {Dtype::kFloat32}, {"N", "$vocabulary", "T"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  void build(const Spec& /*in*/) override { table_ = std::make_unique<Table>(vocabulary_); }

  [[nodiscard]] nn::Module& root() override { return *table_; }

 private:
  int64_t vocabulary_;
  std::unique_ptr<Table> table_;
};

TENON_COMPONENT(Bigram, BigramParams, "bigram",
                "Logits of each next token from the one before it alone: what any language model has to beat")

}  // namespace tenon::models
