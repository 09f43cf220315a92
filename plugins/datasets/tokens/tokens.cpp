// dataset:tokens: blocks of tokens and the tokens that follow them, for language models.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <files/patterns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/random.hpp>
#include <tenon/registration.hpp>
#include <tokens/token_file.hpp>

namespace tenon::datasets {

struct TokensParams {
  std::vector<std::filesystem::path> paths;
  TokenType dtype = TokenType::kUint16;
  int64_t block = 1024;
  std::optional<int64_t> stride;
  int64_t skip_bytes = 0;
  std::optional<int64_t> vocabulary;
  std::string field = "tokens";
  std::string target_field = "target";

  TENON_PARAMS(
      TokensParams,
      tenon::field(&TokensParams::paths, "paths",
                   "Files of tokens: little-endian numbers one behind the other, or .npy with one axis; a name may be "
                   "a pattern, such as train_*.bin")
          .min_items(1)
          .required(),
      tenon::field(&TokensParams::dtype, "dtype", "Type of the numbers in the files"),
      tenon::field(&TokensParams::block, "block", "Tokens of an item").min(1),
      tenon::field(&TokensParams::stride, "stride",
                   "Tokens from the beginning of an item to that of the next; below block, items overlap; auto: block")
          .min(1),
      tenon::field(&TokensParams::skip_bytes, "skip_bytes",
                   "Bytes of a header at the beginning of each file that is no .npy")
          .min(0),
      tenon::field(&TokensParams::vocabulary, "vocabulary",
                   "Number of tokens that there are: a greater one is an error, named when it is read; unchecked "
                   "checks none")
          .min(1)
          .word("unchecked"),
      tenon::field(&TokensParams::field, "field", "Name of the field of tokens, int64[block]"),
      tenon::field(&TokensParams::target_field, "target_field",
                   "Name of the field of the tokens that follow each, int64[block]"))
};

/// An item takes block + 1 tokens, all of one file. The files are mapped.
class Tokens final : public Dataset, public Remarks {
 public:
  explicit Tokens(TokensParams params) : params_(std::move(params)), stride_(params_.stride.value_or(params_.block)) {
    if (params_.field == params_.target_field) {
      throw Error(ErrorCode::kConfig, "\"" + params_.field + "\" is the name of the field of tokens already",
                  "/target_field");
    }
    constexpr int64_t kMost = int64_t{1} << 32;
    if (params_.block >= kMost) throw Error(ErrorCode::kConfig, "an item would have more than 2^32 tokens", "/block");
  }

  static Ports ports() {
    return {{},
            {Port::of("$field", {Dtype::kInt64}, {"$block"}), Port::of("$target_field", {Dtype::kInt64}, {"$block"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {Remarks::kAbility}; }
  static Example example() {
    return {.params = R"({"paths": ["text.bin"], "dtype": "uint8", "block": 4})",
            .files = {{"text.bin", "to be or not to be"}},
            .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Remarks::kAbility ? static_cast<Remarks*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    return {{params_.field, Dtype::kInt64, {params_.block}}, {params_.target_field, Dtype::kInt64, {params_.block}}};
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    const std::vector<ListedFile> all = list_files(params_.paths, "/paths");
    require_mappable(all.size(), params_.paths.front().string(), "join files of tokens into larger ones", "/paths");
    for (const ListedFile& listed : all) {
      TokenFile file(listed.path, listed.pointer, params_.dtype, params_.skip_bytes);
      hash_ = random_key({hash_, file.hash()});
      const int64_t items = file.size() > params_.block ? (file.size() - params_.block - 1) / stride_ + 1 : 0;
      if (items == 0) ++short_;
      files_.push_back({std::move(file), size_});
      size_ += items;
    }
    if (size_ == 0) {
      throw Error(ErrorCode::kData,
                  files_.front().file.name() + ": has " + std::to_string(files_.front().file.size()) +
                      " tokens, and an item takes block + 1 = " + std::to_string(params_.block + 1),
                  "/block");
    }
  }

  [[nodiscard]] int64_t size() const override { return size_; }

  [[nodiscard]] std::string fingerprint() const override {
    const std::string& type = tenon_enum_names(params_.dtype).names[static_cast<std::size_t>(params_.dtype)];
    return "tokens-2:" + type + ":" + params_.field + ":" + params_.target_field + ":" + std::to_string(params_.block) +
           ":" + std::to_string(stride_) + ":" + std::to_string(size_) + ":" + hex(hash_);
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    if (short_ == 0) return {};
    return {std::to_string(short_) + " of " + std::to_string(files_.size()) +
            " files have fewer tokens than an item takes, block + 1, and give none"};
  }

  void read(int64_t index, Sample& out) const override {
    const auto behind = std::upper_bound(files_.begin(), files_.end(), index,
                                         [](int64_t wanted, const Part& part) { return wanted < part.begin; });
    const Part& part = *(behind - 1);
    const int64_t first = (index - part.begin) * stride_;
    const std::array<int64_t, 1> shape{params_.block};
    const std::span<int64_t> tokens = out.allocate(0, Dtype::kInt64, shape).as<int64_t>();
    const std::span<int64_t> target = out.allocate(1, Dtype::kInt64, shape).as<int64_t>();
    part.file.read(first, tokens);
    part.file.read(first + params_.block, target.last(1));
    std::memcpy(target.data(), tokens.data() + 1, (tokens.size() - 1) * sizeof(int64_t));
    require_known(part, first, tokens);
    require_known(part, first + params_.block, target.last(1));
  }

 private:
  struct Part {
    TokenFile file;
    int64_t begin;  // index of its first item
  };

  void require_known(const Part& part, int64_t first, std::span<const int64_t> tokens) const {
    if (!params_.vocabulary) return;
    const auto most = static_cast<uint64_t>(*params_.vocabulary);
    const auto unknown =
        std::find_if(tokens.begin(), tokens.end(), [&](int64_t token) { return static_cast<uint64_t>(token) >= most; });
    if (unknown == tokens.end()) return;
    throw Error(ErrorCode::kData,
                part.file.name() + ": token " + std::to_string(first + (unknown - tokens.begin())) + " is " +
                    std::to_string(*unknown) + ", but \"vocabulary\" has " + std::to_string(most) +
                    ": is \"dtype\" right, and the tokenizer the same?",
                "/vocabulary");
  }

  TokensParams params_;
  int64_t stride_;
  std::vector<Part> files_;
  int64_t size_ = 0;
  int64_t short_ = 0;
  uint64_t hash_ = 0;
};

TENON_COMPONENT(Tokens, TokensParams, "tokens", "Blocks of tokens from binary files, with the tokens that follow")

}  // namespace tenon::datasets
