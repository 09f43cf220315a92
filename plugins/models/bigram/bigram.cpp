// model:bigram: a table of logits, a row a token.
#include <memory>
#include <string>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
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
  explicit Table(int64_t vocabulary) : table_(this, "table", {vocabulary, vocabulary}, nn::constant(0)) {}

 protected:
  Tensors forward(const Tensors& in, StepContext& /*context*/) override {
    return {{"logits", at::embedding(table_, in.at("tokens")).transpose(1, 2)}};
  }

 private:
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
