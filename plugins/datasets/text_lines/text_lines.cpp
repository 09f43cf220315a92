// dataset:text_lines: each line of text files is an item.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <csv/problems.hpp>
#include <csv/utf8.hpp>
#include <files/content_hash.hpp>
#include <files/gzip.hpp>
#include <files/mapped_file.hpp>
#include <files/patterns.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

enum class TextEncoding { kUtf8, kBytes };
TENON_ENUM(TextEncoding, "utf-8", "bytes")

enum class EmptyLines { kKeep, kSkip };
TENON_ENUM(EmptyLines, "keep", "skip")

struct TextLinesParams {
  std::vector<std::filesystem::path> paths;
  std::string field = "text";
  TextEncoding encoding = TextEncoding::kUtf8;
  bool strip = false;
  EmptyLines empty = EmptyLines::kKeep;
  std::optional<int64_t> max_bytes;

  TENON_PARAMS(
      TextLinesParams,
      tenon::field(&TextLinesParams::paths, "paths",
                   "Files, one behind the other; a name may be a pattern, such as wiki-*.txt or part-{00..15}.txt")
          .min_items(1)
          .required(),
      tenon::field(&TextLinesParams::field, "field", "Name of the field: uint8, the bytes of a line without its end"),
      tenon::field(&TextLinesParams::encoding, "encoding",
                   "utf-8: the files are checked at the start, and a byte order mark is left out; bytes: they are "
                   "taken as they are"),
      tenon::field(&TextLinesParams::strip, "strip", "Removes blanks and tabs at both ends of a line"),
      tenon::field(&TextLinesParams::empty, "empty", "What becomes of lines that hold nothing: keep, or skip"),
      tenon::field(&TextLinesParams::max_bytes, "max_bytes",
                   "Longer lines are cut to so many bytes, between two characters")
          .min(1)
          .word("none"))
};

namespace {

std::string_view stripped(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
}

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

/// The files are mapped; the index takes 8 bytes a line.
class TextLines final : public Dataset, public Columns, public Remarks {
 public:
  explicit TextLines(TextLinesParams params) : params_(std::move(params)) {}

  static Ports ports() { return {{}, {Port::any("$field", {Dtype::kUint8})}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {Columns::kAbility, Remarks::kAbility}; }
  static Example example() {
    return {
        .params = R"({"paths": ["lines.txt"]})", .files = {{"lines.txt", "\xEF\xBB\xBFone\n\nthree\n"}}, .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == Remarks::kAbility) return static_cast<Remarks*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec() const override { return {{params_.field, Dtype::kUint8, {Dim()}}}; }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    const std::vector<ListedFile> all = list_files(params_.paths, "/paths");
    require_mappable(all.size(), params_.paths.front().string(), "join texts into larger files", "/paths");
    for (const ListedFile& file : all) index(file);
    if (begins_.empty()) {
      throw Error(ErrorCode::kData,
                  params_.paths.front().string() + ": there are no lines" + (skipped_ > 0 ? " that hold anything" : ""),
                  "/paths/0");
    }
    begins_.shrink_to_fit();
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(begins_.size()); }

  [[nodiscard]] std::string fingerprint() const override {
    std::string text = "text-lines-1:" + params_.field;
    if (params_.encoding == TextEncoding::kBytes) text.append(":bytes");
    if (params_.strip) text.append(":strip");
    if (params_.empty == EmptyLines::kSkip) text.append(":skip");
    if (params_.max_bytes) text.append(":").append(std::to_string(*params_.max_bytes));
    return text + ":" + std::to_string(size()) + ":" + hex(hash_);
  }

  void read(int64_t index, Sample& out) const override {
    const std::string_view line = line_at(index);
    const std::array<int64_t, 1> shape{static_cast<int64_t>(line.size())};
    const Array to = out.allocate(0, Dtype::kUint8, shape);
    if (!line.empty()) std::memcpy(to.data, line.data(), line.size());
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view /*field*/) const override {
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> lengths(std::string_view field) const override {
    if (field != params_.field) return std::nullopt;
    std::vector<int64_t> all;
    all.reserve(begins_.size());
    for (int64_t i = 0; i < size(); ++i) all.push_back(static_cast<int64_t>(line_at(i).size()));
    return all;
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    std::vector<std::string> all;
    const std::string name = params_.paths.front().string() + (files_.size() > 1 ? " and others: " : ": ");
    if (skipped_ > 0) all.push_back(name + std::to_string(skipped_) + " empty lines were left out");
    if (cut_ > 0) {
      all.push_back(name + std::to_string(cut_) + " lines are longer than " + std::to_string(*params_.max_bytes) +
                    " bytes and are cut");
    }
    return all;
  }

 private:
  struct Text {
    MappedFile file;
    std::string_view text;  // without a byte order mark
    uint64_t begin;         // in all texts, one behind the other
  };

  void index(const ListedFile& listed) {
    MappedFile file(listed.path, listed.pointer);
    std::string_view text = file.text();
    const std::string name = listed.path.string();
    if (params_.encoding == TextEncoding::kUtf8) {
      require_utf8(file, name, listed.pointer);
      if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    }
    hash_ = content_hash(std::as_bytes(std::span(text)), hash_);
    files_.push_back({std::move(file), text, behind_});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      take(files_.back(), at);
      at = end + 1;
    }
    behind_ += text.size();
    files_.back().file.forget(0, files_.back().file.bytes().size());
  }

  static void require_utf8(const MappedFile& file, const std::string& name, const std::string& pointer) {
    if (is_gzip(file.bytes())) throw Error(ErrorCode::kData, name + ": is packed by gzip: unpack it (gunzip)", pointer);
    const std::size_t wrong = find_no_utf8(file.text());
    if (wrong == std::string_view::npos) return;
    const bool wide = file.text().starts_with("\xFF\xFE") || file.text().starts_with("\xFE\xFF");
    Problems problems(name, file.text());
    problems.add(wrong, wide ? "the text is UTF-16: save it as UTF-8"
                             : "this is no UTF-8: save the file as UTF-8, or give \"encoding\": \"bytes\"");
    problems.fail_if_any(pointer);
  }

  void take(const Text& from, std::size_t at) {
    std::string_view line = line_in(from, at);
    if (line.empty() && params_.empty == EmptyLines::kSkip) {
      ++skipped_;
      return;
    }
    if (params_.max_bytes && static_cast<int64_t>(line.size()) > *params_.max_bytes) ++cut_;
    begins_.push_back(from.begin + at);
  }

  [[nodiscard]] std::string_view line_in(const Text& from, std::size_t at) const {
    std::string_view line = from.text.substr(at);
    line = line.substr(0, line.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return params_.strip ? stripped(line) : line;
  }

  [[nodiscard]] std::string_view line_at(int64_t index) const {
    const uint64_t at = begins_[static_cast<std::size_t>(index)];
    const auto behind = std::upper_bound(files_.begin(), files_.end(), at,
                                         [](uint64_t wanted, const Text& text) { return wanted < text.begin; });
    const Text& from = *(behind - 1);
    const std::string_view line = line_in(from, at - from.begin);
    if (!params_.max_bytes || static_cast<int64_t>(line.size()) <= *params_.max_bytes) return line;
    auto size = static_cast<std::size_t>(*params_.max_bytes);
    while (params_.encoding == TextEncoding::kUtf8 && size > 0 && continues_code_point(line[size])) --size;
    return line.substr(0, size);
  }

  TextLinesParams params_;
  std::vector<Text> files_;
  std::vector<uint64_t> begins_;  // of the lines in all texts
  uint64_t behind_ = 0;
  uint64_t hash_ = 0;
  int64_t skipped_ = 0;
  int64_t cut_ = 0;
};

TENON_COMPONENT(TextLines, TextLinesParams, "text_lines", "Each line of text files as an item of bytes")

}  // namespace tenon::datasets
