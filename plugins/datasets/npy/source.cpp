// Files are mapped. Those of a folder one at a time: a process may have some 65,000 mappings, and a folder more files.
#include <npy/source.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <files/natural_order.hpp>
#include <files/npy_array.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::datasets {
namespace {

namespace fs = std::filesystem;

class OneFile final : public NpySource {
 public:
  explicit OneFile(const NpyDeclared& declared)
      : file_(declared.path, declared.pointer + "/path"),
        samples_(read_npy(file_.bytes(), declared.path.string(), declared.pointer + "/path"), declared.sample,
                 declared.path.string(), declared.pointer, "/path") {}

  [[nodiscard]] int64_t size() const override { return samples_.size(); }
  [[nodiscard]] uint64_t hash() const override { return samples_.hash(); }
  void read(int64_t index, std::byte* to) const override { samples_.read(index, to); }
  [[nodiscard]] const std::byte* at(int64_t index) const noexcept override { return samples_.at(index); }

 private:
  MappedFile file_;
  NpySamples samples_;
};

class Folder final : public NpySource {
 public:
  explicit Folder(NpyDeclared declared) : declared_(std::move(declared)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(declared_.path)) {
      if (entry.path().extension() == ".npy") files_.push_back(entry.path().filename().string());
    }
    if (files_.empty()) {
      throw Error(ErrorCode::kData, declared_.path.string() + ": holds no file that ends with .npy",
                  declared_.pointer + "/path");
    }
    std::sort(files_.begin(), files_.end(), comes_before);
    const NpySample& declares = declared_.sample;
    std::vector<std::byte> sample(size_of(declares.dtype) * static_cast<std::size_t>(elements(declares.shape)));
    for (int64_t i = 0; i < size(); ++i) {
      read(i, sample.data());
      hash_ = random_key({hash_, content_hash(sample)});
    }
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  [[nodiscard]] uint64_t hash() const override { return hash_; }

  void read(int64_t index, std::byte* to) const override {
    const fs::path path = declared_.path / files_.at(static_cast<std::size_t>(index));
    const MappedFile file(path, declared_.pointer + "/path");
    const NpyArray array = read_npy(file.bytes(), path.string(), declared_.pointer + "/path");
    require_npy(declared_.sample, path.string(), array.header.dtype, array.header.shape, declared_.pointer);
    copy_rows(array, to);
  }

  [[nodiscard]] const std::byte* at(int64_t /*index*/) const noexcept override { return nullptr; }

 private:
  NpyDeclared declared_;
  std::vector<std::string> files_;  // names, in order
  uint64_t hash_ = 0;
};

}  // namespace

std::unique_ptr<NpySource> open_npy(const NpyDeclared& declared) {
  std::error_code unreadable;  // what it is will be told by whoever opens the file
  if (!fs::is_directory(declared.path, unreadable)) return std::make_unique<OneFile>(declared);
  try {
    return std::make_unique<Folder>(declared);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::kData, declared.path.string() + ": cannot be read: " + error.code().message(),
                declared.pointer + "/path");
  }
}

}  // namespace tenon::datasets
