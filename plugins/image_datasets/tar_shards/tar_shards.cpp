// dataset:tar_shards: samples in tar archives, as WebDataset writes them, at random access.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <decode/decoder.hpp>
#include <decode/pixels.hpp>
#include <files/content_hash.hpp>
#include <files/patterns.hpp>
#include <files/unreadable.hpp>
#include <index/image_file.hpp>
#include <tar_shards/params.hpp>
#include <tar_shards/shard_index.hpp>
#include <tar_shards/shard_value.hpp>
#include <tar_shards/tar_reader.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_datasets {

/// Samples are found by an index over all shards and read where they lie, so that they are shuffled, shared among ranks
/// and resumed as those of any dataset, however the shards were cut.
class TarShards final : public Dataset, public Columns, public PartialRead, public Remarks, public ItemNames {
 public:
  explicit TarShards(TarShardsParams params) : params_(std::move(params)) {
    require_bits(params_.bits);
    options_ = {params_.color, params_.bits, params_.orientation};
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      declare(params_.fields[i], "/fields/" + std::to_string(i));
    }
  }

  static Ports ports() { return {{}, {Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {Columns::kAbility, PartialRead::kAbility, Remarks::kAbility, ItemNames::kAbility};
  }
  static Example example();

  /// PartialRead where a field is an image.
  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == ItemNames::kAbility) return static_cast<ItemNames*>(this);
    if (wanted == Remarks::kAbility) return static_cast<Remarks*>(this);
    if (wanted == PartialRead::kAbility && image_) return static_cast<PartialRead*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec() const override { return spec_; }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    std::vector<std::vector<std::string>> extensions;
    for (const ShardField& field : params_.fields) extensions.push_back(extensions_of(field));
    const bool skip = params_.missing == ShardMissing::kSkip;
    index_.open(datasets::list_files(params_.paths, "/paths"), extensions,
                skip ? ShardIndex::Missing::kSkip : ShardIndex::Missing::kError);
    if (index_.size() == 0) {
      throw Error(ErrorCode::kData,
                  index_.shards().front().path.string() + (index_.shards().size() > 1 ? " and the other shards" : "") +
                      ": no sample has a file of each field",
                  "/paths/0");
    }
    if (index_.shards().size() <= kKeptOpen) {
      for (const datasets::ListedFile& shard : index_.shards()) files_.emplace_back(shard.path, shard.pointer);
    }
    fingerprint_ = "tar-shards-1:" + std::to_string(index_.size());
    for (std::size_t i = 0; i < spec_.size(); ++i) {
      fingerprint_ += ":" + spec_[i].name + " " + to_string(spec_[i]) + " " + params_.fields[i].pick;
    }
    fingerprint_ += params_.orientation == Orientation::kApply ? ":upright:" : ":as stored:";
    fingerprint_ += datasets::hex(index_.hash());
  }

  [[nodiscard]] int64_t size() const override { return index_.size(); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  [[nodiscard]] std::string_view partial_field() const noexcept override {
    if (!image_) return {};
    return params_.fields[*image_].name;
  }

  void read(int64_t index, Sample& out) const override { read(index, nullptr, out); }
  void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const override {
    read(index, &choose, out);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr) return std::nullopt;
    const auto position = static_cast<std::size_t>(found - spec_.data());
    const ShardField& declared = params_.fields[position];
    if (declared.type != ShardType::kInteger && declared.type != ShardType::kNumber) return std::nullopt;
    std::vector<double> numbers(static_cast<std::size_t>(size()));
    try {
      for (int64_t i = 0; i < size(); ++i) {
        with_file_of(i, position, [&](std::span<const std::byte> bytes) {
          numbers[static_cast<std::size_t>(i)] = declared.type == ShardType::kInteger
                                                     ? static_cast<double>(integer_of(declared, bytes))
                                                     : number_of(declared, bytes);
        });
      }
    } catch (const Error& error) {
      if (!datasets::is_fault_of_item(error.code())) throw;
      return std::nullopt;  // whoever reads the items finds out which, and whether that is tolerated
    }
    return numbers;
  }

  /// Names in archives would have to be read.
  [[nodiscard]] std::string item_name(int64_t index) const override {
    return index_.shards()[index_.shard_of(index)].path.string() + ", byte " +
           std::to_string(index_.entry(index, 0).offset);
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    std::vector<std::string> all;
    if (index_.skipped() > 0) {
      all.push_back(index_.shards().front().path.string() +
                    (index_.shards().size() > 1 ? " and other shards: " : ": ") + std::to_string(index_.skipped()) +
                    " of " + std::to_string(index_.skipped() + index_.size()) +
                    " samples lack a file and were left out (\"missing\": \"skip\")");
    }
    if (!index_.without_end_mark().empty()) all.push_back(without_end_mark());
    return all;
  }

 private:
  /// Some writers never set the mark: then all shards lack it, so few are named.
  [[nodiscard]] std::string without_end_mark() const {
    constexpr std::size_t kNamed = 4;
    const std::vector<std::size_t>& shards = index_.without_end_mark();
    const std::size_t named = std::min(kNamed, shards.size());
    std::string names;
    for (std::size_t i = 0; i < named; ++i) names += (i > 0 ? ", " : "") + index_.shards()[shards[i]].path.string();
    if (shards.size() > named) names += " and " + std::to_string(shards.size() - named) + " more";
    return names + (shards.size() == 1 ? ": has no end-of-archive mark" : ": have no end-of-archive mark") +
           " and may be cut off between two files: compare the size with that of the original";
  }

  /// Further shards are opened for each read: a process may have some 1,000 files open.
  static constexpr std::size_t kKeptOpen = 256;

  void declare(const ShardField& field, const std::string& pointer) {
    const auto refuse = [&](const std::string& why, const std::string& at) {
      throw Error(ErrorCode::kConfig, why, pointer + at);
    };
    if (find(spec_, field.name) != nullptr) {
      refuse("\"" + field.name + "\" is the name of another field already", "/name");
    }
    if (extensions_of(field).empty()) {
      refuse("files of this type have no usual extension: give \"extensions\"", "/extensions");
    }
    const bool scalar = field.type == ShardType::kInteger || field.type == ShardType::kNumber;
    if (!field.pick.empty() && !scalar && field.type != ShardType::kText) {
      refuse("a JSON file gives integers, numbers and texts", "/pick");
    }
    if (field.type == ShardType::kImage) {
      if (!image_) image_ = spec_.size();
      spec_.push_back(image_field(field.name, options_));
      if (*image_ + 1 != spec_.size()) {  // another image has sizes of its own
        spec_.back().shape = {Dim(), Dim(), channels(params_.color)};
      }
      return;
    }
    int64_t bytes = 8;
    for (std::size_t i = 0; i < field.shape.size(); ++i) {
      const int64_t axis = field.shape[i];
      if (axis == 0) {
        refuse("an axis of 0 would leave nothing of an array: give -1 for one of any length",
               "/shape/" + std::to_string(i));
      }
      if (axis != Dim::kUnknown && __builtin_mul_overflow(bytes, axis, &bytes)) {
        refuse("an array would have more than 2^63 bytes", "/shape");
      }
    }
    spec_.push_back(value_field(field));
  }

  void read(int64_t index, const Choose* choose, Sample& out) const {
    if (spec_.size() > 1 && !files_.empty()) announce(index);
    for (std::size_t i = 0; i < spec_.size(); ++i) {
      const auto position = static_cast<int>(i);
      with_file_of(index, i, [&](std::span<const std::byte> bytes) {
        if (params_.fields[i].type != ShardType::kImage) {
          write_value(params_.fields[i], bytes, position, out);
        } else if (choose != nullptr && i == *image_) {
          decode_part(bytes, options_, *choose, allocate_in(out, position));
        } else {
          decode(bytes, options_, allocate_in(out, position));
        }
      });
    }
  }

  /// Has the system fetch all files of a sample at once: they lie side by side.
  void announce(int64_t index) const {
    uint64_t begin = index_.entry(index, 0).offset;
    uint64_t end = begin;
    for (std::size_t i = 0; i < spec_.size(); ++i) {
      const ShardEntry entry = index_.entry(index, i);
      begin = std::min(begin, entry.offset);
      end = std::max(end, entry.offset + entry.size);
    }
    files_[index_.shard_of(index)].expect(begin, end - begin);
  }

  /// Calls use(bytes) with a file of a sample; an Error gets its place in front.
  template <class Use>
  void with_file_of(int64_t index, std::size_t field, const Use& use) const {
    const std::size_t number = index_.shard_of(index);
    const datasets::ListedFile& shard = index_.shards()[number];
    std::optional<TarFile> own;
    if (files_.empty()) own.emplace(shard.path, shard.pointer);
    const TarFile& file = own ? *own : files_[number];
    const ShardEntry entry = index_.entry(index, field);
    try {
      use(bytes_of(file, entry));
    } catch (const Error& error) {
      const std::string name = name_at(file, entry.offset);
      throw Error(error.code(),
                  shard.path.string() + ": " + (name.empty() ? "the file" : "\"" + name + "\"") + " at byte " +
                      std::to_string(entry.offset) + ": " + error.what(),
                  error.pointer());
    }
  }

  /// Empty where the archive does not tell any more.
  static std::string name_at(const TarFile& file, uint64_t offset) {
    try {
      return member_name(file, offset);
    } catch (const Error&) {  // what is to be told is worse
      return {};
    }
  }

  /// In memory of the thread, until its next call.
  static std::span<const std::byte> bytes_of(const TarFile& file, const ShardEntry& entry) {
    thread_local Scratch memory;
    memory.settle();
    const std::span<std::byte> bytes(memory.take(entry.size), entry.size);
    if (file.read(entry.offset, bytes) < bytes.size()) {
      throw Error(ErrorCode::kData, "the archive became shorter while it was read");
    }
    return bytes;
  }

  TarShardsParams params_;
  DecodeOptions options_;
  Spec spec_;
  std::optional<std::size_t> image_;  // position of the first image
  ShardIndex index_;
  std::vector<TarFile> files_;
  std::string fingerprint_;
};

Example TarShards::example() {
  const auto member = [](const std::string& name, const std::string& content) {
    std::string header = name + std::string(100 - name.size(), '\0') + "0000644" + std::string(17, '\0');
    std::string octal;
    for (std::size_t left = content.size(), i = 0; i < 11; ++i, left /= 8) {
      octal.insert(octal.begin(), static_cast<char>('0' + left % 8));
    }
    header += octal + std::string(13, '\0') + "        0" + std::string(100, '\0');
    header += std::string("ustar\0", 6) + "00" + std::string(247, '\0');
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    for (std::size_t i = 0; i < 6; ++i, sum /= 8) header[153 - i] = static_cast<char>('0' + sum % 8);
    header[154] = '\0';
    return header + content + std::string((512 - content.size() % 512) % 512, '\0');
  };
  const std::string image("P6 2 2 255\n\1\2\3\4\5\6\7\10\11\12\13\14", 23);
  std::string shard;
  for (const char* const key : {"a", "b", "c"}) {
    shard += member(std::string(key) + ".ppm", image) + member(std::string(key) + ".cls", "1") +
             member(std::string(key) + ".json", R"({"who": {"name": "ann"}})");
  }
  return {.params = R"({"paths": ["train-*.tar"], "fields": [{"name": "image", "type": "image"},
                        {"name": "label", "type": "integer"}, {"name": "who", "type": "text", "pick": "who.name"}]})",
          .files = {{"train-0.tar", shard + std::string(1024, '\0')}},
          .inputs = {}};
}

TENON_COMPONENT(TarShards, TarShardsParams, "tar_shards",
                "Samples in tar archives, as WebDataset writes them: images, labels, texts, JSON and arrays")

}  // namespace tenon::image_datasets
