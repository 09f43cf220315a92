// transform:encode_categories: texts or whole numbers become the indices of the categories that they name.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <encode_categories/nearest.hpp>
#include <support/field_lists.hpp>
#include <support/numbers.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

enum class Unknown { kError, kIndex };
TENON_ENUM(Unknown, "error", "index")

struct EncodeCategoriesParams {
  std::vector<std::string> fields;
  std::optional<std::vector<std::string>> categories;
  Unknown unknown = Unknown::kError;

  TENON_PARAMS(
      EncodeCategoriesParams,
      tenon::field(&EncodeCategoriesParams::fields, "fields",
                   "Fields that become int64 scalars: texts (uint8[?]) or scalars of an integer type")
          .min_items(1)
          .required(),
      tenon::field(&EncodeCategoriesParams::categories, "categories",
                   "Categories in the order of their indices, for all fields; \"auto\" learns those of each field "
                   "from the training data and sorts them")
          .min_items(1),
      tenon::field(&EncodeCategoriesParams::unknown, "unknown",
                   "What another value is: an error, or the index after the last category"))
};

namespace {

/// Texts are sorted by their bytes, numbers by their value.
struct Seen {
  std::set<std::string, std::less<>> texts;
  std::set<int64_t> numbers;
};

using Indices = std::map<std::string, int64_t, std::less<>>;

bool is_text(const Array& value) { return value.dtype == Dtype::kUint8 && value.shape.size() == 1; }

std::string text_of(const Array& value) {
  if (!is_text(value)) return std::to_string(integer_of(value));
  const std::span<const uint8_t> bytes = value.as<uint8_t>();
  return {bytes.begin(), bytes.end()};
}

/// Between quotes, without control characters, and short.
std::string shown(std::string_view text) {
  std::size_t length = std::min<std::size_t>(text.size(), 60);
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  std::string quoted = "\"";
  for (const char c : text.substr(0, length)) quoted += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return quoted + (length < text.size() ? "…\"" : "\"");
}

std::string listed(const std::vector<std::string>& categories) {
  constexpr std::size_t kMost = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(kMost, categories.size()); ++i) {
    list += (i == 0 ? "" : ", ") + shown(categories[i]);
  }
  return categories.size() > kMost ? list + " and " + std::to_string(categories.size() - kMost) + " more" : list;
}

Indices indices_of(const std::vector<std::string>& categories) {
  Indices indices;
  for (const std::string& category : categories) indices.emplace(category, static_cast<int64_t>(indices.size()));
  return indices;
}

/// As two arrays, since texts may hold any bytes: all texts one after the other, and the bytes of each.
void keep(StateIo& io, const std::string& field, std::vector<std::string>& categories) {
  const std::string text = std::accumulate(categories.begin(), categories.end(), std::string());
  std::vector<uint8_t> bytes(text.begin(), text.end());
  std::vector<int64_t> lengths(categories.size());
  std::transform(categories.begin(), categories.end(), lengths.begin(),
                 [](const std::string& category) { return static_cast<int64_t>(category.size()); });
  const Shape bytes_shape{static_cast<int64_t>(bytes.size())};
  const Shape lengths_shape{static_cast<int64_t>(lengths.size())};
  Array kept_bytes{bytes.data(), Dtype::kUint8, bytes_shape};
  Array kept_lengths{lengths.data(), Dtype::kInt64, lengths_shape};
  io.io(field + "/text", kept_bytes);
  io.io(field + "/lengths", kept_lengths);
  if (io.saving()) return;
  const Error damaged(ErrorCode::kCheckpoint, "the categories of \"" + field + "\" are damaged");
  if (kept_bytes.dtype != Dtype::kUint8 || kept_lengths.dtype != Dtype::kInt64) throw damaged;
  std::span<const uint8_t> left = kept_bytes.as<uint8_t>();
  categories.clear();
  for (const int64_t length : kept_lengths.as<int64_t>()) {
    if (length < 0 || static_cast<std::size_t>(length) > left.size()) throw damaged;
    const std::span<const uint8_t> category = left.first(static_cast<std::size_t>(length));
    categories.emplace_back(category.begin(), category.end());
    left = left.subspan(category.size());
  }
  if (!left.empty() || categories.empty() || indices_of(categories).size() != categories.size()) throw damaged;
}

}  // namespace

/// The index 0, 1, … of a category. A whole number is the category of its decimal text.
class EncodeCategories final : public Transform, public Fitted, public Categorical {
 public:
  explicit EncodeCategories(EncodeCategoriesParams params) : params_(std::move(params)) {
    require_distinct(params_.fields);
    if (!params_.categories) return;
    const std::vector<std::string>& given = *params_.categories;
    for (auto each = given.begin(); each != given.end(); ++each) {
      if (std::find(given.begin(), each, *each) == each) continue;
      throw Error(ErrorCode::kConfig, shown(*each) + " is listed twice",
                  "/categories/" + std::to_string(each - given.begin()));
    }
    know(std::vector<std::vector<std::string>>(params_.fields.size(), given));
  }

  static Ports ports() {
    return {{Port::any("$fields", integer_types())}, {Port::pass_all(), Port::of("$fields", {Dtype::kInt64}, {})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {Fitted::kAbility, Categorical::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted = id;
    if (wanted == Fitted::kAbility) return static_cast<Fitted*>(this);
    if (wanted == Categorical::kAbility) return static_cast<Categorical*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      FieldSpec& field = out[static_cast<std::size_t>(index_of(in, params_.fields[i]))];
      const bool text = field.dtype == Dtype::kUint8 && field.shape.size() == 1;
      if (!text && !(is_integer(field.dtype) && field.shape.empty())) {
        throw Error(ErrorCode::kConfig,
                    "\"" + field.name + "\" is " + to_string(field) +
                        ", but categories are texts (uint8[?]) or scalars of an integer type",
                    "/fields/" + std::to_string(i));
      }
      field = {field.name, Dtype::kInt64, {}};
    }
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    require_known();
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const std::string text = text_of(sample.at(params_.fields[i]));
      const auto found = indices_[i].find(text);
      if (found == indices_[i].end() && params_.unknown == Unknown::kError) refuse(i, text);
      sample.allocate(params_.fields[i], Dtype::kInt64, {}).as<int64_t>()[0] =
          found == indices_[i].end() ? static_cast<int64_t>(indices_[i].size()) : found->second;
    }
  }

  void begin() override {
    if (params_.categories) return;
    seen_.assign(params_.fields.size(), {});
    know({});
  }

  void observe(const Sample& sample) override {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const Array value = sample.at(params_.fields[i]);
      if (is_text(value)) {
        seen_[i].texts.insert(text_of(value));
      } else {
        seen_[i].numbers.insert(integer_of(value));
      }
    }
  }

  void finish() override {
    if (params_.categories) return;
    std::vector<std::vector<std::string>> all;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      std::vector<std::string>& categories = all.emplace_back(seen_[i].texts.begin(), seen_[i].texts.end());
      for (const int64_t number : seen_[i].numbers) categories.push_back(std::to_string(number));
      if (!categories.empty()) continue;
      throw Error(ErrorCode::kData, "no category of \"" + params_.fields[i] +
                                        "\" can be learned, since the training data has no samples: list them in "
                                        "\"categories\"");
    }
    seen_.clear();
    know(std::move(all));
  }

  /// With unknown: "index" also "(unknown)", the text of that index.
  [[nodiscard]] std::optional<std::vector<std::string>> categories(std::string_view field) const override {
    const auto found = std::find(params_.fields.begin(), params_.fields.end(), field);
    if (found == params_.fields.end()) return std::nullopt;
    require_known();
    std::vector<std::string> all = categories_[static_cast<std::size_t>(found - params_.fields.begin())];
    if (params_.unknown == Unknown::kIndex) all.emplace_back("(unknown)");
    return all;
  }

  /// Only what was learned: a list given as a parameter stays there.
  void state(StateIo& io) override {
    if (params_.categories) return;
    bool fitted = !categories_.empty();
    io.io("fitted", fitted);
    std::vector<std::vector<std::string>> all = categories_;
    if (!io.saving()) all.assign(fitted ? params_.fields.size() : 0, {});
    for (std::size_t i = 0; i < all.size(); ++i) keep(io, params_.fields[i], all[i]);
    if (!io.saving()) know(std::move(all));
  }

 private:
  void know(std::vector<std::vector<std::string>> categories) {
    categories_ = std::move(categories);
    indices_.clear();
    for (const std::vector<std::string>& each : categories_) indices_.push_back(indices_of(each));
  }

  void require_known() const {
    if (!categories_.empty()) return;
    throw Error(
        ErrorCode::kData,
        "no categories are known yet: they are learned from the data of \"fit\", come from a checkpoint, or are "
        "listed in \"categories\"");
  }

  [[noreturn]] void refuse(std::size_t field, const std::string& text) const {
    const std::string* const near = nearest(text, categories_[field]);
    throw Error(ErrorCode::kData, "\"" + params_.fields[field] + "\" has the unknown category " + shown(text) +
                                      (near == nullptr ? "" : " (did you mean " + shown(*near) + "?)") +
                                      "; known are " + listed(categories_[field]));
  }

  EncodeCategoriesParams params_;
  std::vector<Seen> seen_;                            // one for each field, while learning
  std::vector<std::vector<std::string>> categories_;  // one for each field, once known
  std::vector<Indices> indices_;                      // the same, by text
};

TENON_COMPONENT(EncodeCategories, EncodeCategoriesParams, "encode_categories",
                "Turns texts or whole numbers into the indices of their categories, listed or learned")

}  // namespace tenon::transforms
