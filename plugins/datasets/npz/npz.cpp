// dataset:npz: several of numpy's arrays in one archive.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <files/zip_file.hpp>
#include <npy/array_dataset.hpp>
#include <tenon/registration.hpp>
#include <text/nearest.hpp>

namespace tenon::datasets {

struct NpzField {
  std::string name;
  std::string key;
  NpyType dtype = NpyType::kFloat32;
  std::vector<int64_t> shape;

  TENON_PARAMS(NpzField, field(&NpzField::name, "name", "Name of the field").required(),
               field(&NpzField::key, "key", "Name of the array in the archive; \"\" for the field's own name"),
               field(&NpzField::dtype, "dtype", "Type of the numbers in the array").required(),
               field(&NpzField::shape, "shape",
                     "Shape of one sample: the array's shape without its first axis; [] for one number")
                   .min(1)
                   .required())
};

struct NpzParams {
  std::filesystem::path path;
  std::vector<NpzField> fields;

  TENON_PARAMS(NpzParams, field(&NpzParams::path, "path", "File of numpy.savez or numpy.savez_compressed").required(),
               field(&NpzParams::fields, "fields",
                     "Fields, each an array of which the first axis counts the samples, as many as in the others")
                   .min_items(1)
                   .required())
};

namespace {

/// An array of the archive, which lies in the mapped file or was unpacked.
class Member final : public NpySource {
 public:
  Member(const ZipFile& archive, const ZipEntry& entry, const NpySample& declared, const std::string& name,
         const std::string& pointer)
      : samples_(read_npy(archive.content(entry, unpacked_), name, pointer + "/key"), declared, name, pointer, "/key") {
  }

  [[nodiscard]] int64_t size() const override { return samples_.size(); }
  [[nodiscard]] uint64_t hash() const override { return samples_.hash(); }
  void read(int64_t index, std::byte* to) const override { samples_.read(index, to); }
  [[nodiscard]] const std::byte* at(int64_t index) const noexcept override { return samples_.at(index); }

 private:
  std::vector<std::byte> unpacked_;  // before samples_, which lies in it
  NpySamples samples_;
};

std::string_view key_of(const ZipEntry& entry) {
  std::string_view key = entry.name;
  if (key.ends_with(".npy")) key.remove_suffix(4);
  return key;
}

}  // namespace

/// Arrays that are stored are read where they lie; those that are deflated take memory from open() on.
class Npz final : public ArrayDataset {
 public:
  explicit Npz(NpzParams params) : ArrayDataset("npz-1"), params_(std::move(params)) {
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      NpzField& field = params_.fields[i];
      if (field.key.empty()) field.key = field.name;
      declare(field.name, declared_sample(field.dtype, field.shape, pointer_of(i)), pointer_of(i));
    }
  }

  static Example example() {
    std::string array = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
    array.resize(117, ' ');
    array = std::string("\x93NUMPY\1\0\x76\0", 10) + array + "\nabcdef";
    const auto number = [](std::size_t value, int bytes) {
      std::string text;
      for (; bytes > 0; --bytes, value >>= 8U) text += static_cast<char>(value & 0xFFU);
      return text;
    };
    const std::string sizes = number(0x1A180CBE, 4) + number(array.size(), 4) + number(array.size(), 4) + number(5, 2);
    const std::string common = number(20, 2) + std::string(8, '\0') + sizes + std::string(2, '\0');
    const std::string local = "PK\3\4" + common + "x.npy" + array;
    const std::string central = "PK\1\2" + number(20, 2) + common + std::string(14, '\0') + "x.npy";
    const std::string end = std::string("PK\5\6") + std::string(4, '\0') + number(1, 2) + number(1, 2) +
                            number(central.size(), 4) + number(local.size(), 4) + number(0, 2);
    return {.params = R"({"path": "a.npz", "fields": [{"name": "x", "dtype": "uint8", "shape": [2]}]})",
            .files = {{"a.npz", local + central + end}},
            .inputs = {}};
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads a file and takes no input: remove \"in\"");
    archive_ = std::make_unique<ZipFile>(params_.path, "/path");
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const std::string name = params_.path.string() + ": " + params_.fields[i].key;
      add(std::make_unique<Member>(*archive_, find_entry(i), declared(i), name, pointer_of(i)), name,
          pointer_of(i) + "/key");
    }
  }

 private:
  static std::string pointer_of(std::size_t field) { return "/fields/" + std::to_string(field); }

  [[nodiscard]] const ZipEntry& find_entry(std::size_t field) const {
    const std::string& key = params_.fields[field].key;
    std::vector<std::string> keys;
    for (const ZipEntry& entry : archive_->entries()) {
      if (key_of(entry) == key) return entry;
      keys.emplace_back(key_of(entry));
    }
    const auto near = nearest(key, keys);
    throw Error(ErrorCode::kData,
                params_.path.string() + ": has no array \"" + key + "\"" +
                    (near ? "; did you mean \"" + *near + "\"?" : std::string(".")) +
                    " Its arrays: " + (keys.empty() ? "none" : list_of(keys)),
                pointer_of(field) + "/key");
  }

  NpzParams params_;
  std::unique_ptr<ZipFile> archive_;
};

TENON_COMPONENT(Npz, NpzParams, "npz", "Fields from the arrays of one .npz file of numpy")

}  // namespace tenon::datasets
