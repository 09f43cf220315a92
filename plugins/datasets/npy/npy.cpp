// dataset:npy: numpy's own files, one a field or one a sample.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <files/content_hash.hpp>
#include <npy/source.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

enum class NpyType { kBool, kUint8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64 };
TENON_ENUM(NpyType, "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")

struct NpyField {
  std::string name;
  std::filesystem::path path;
  NpyType dtype = NpyType::kFloat32;
  std::vector<int64_t> shape;

  TENON_PARAMS(NpyField, field(&NpyField::name, "name", "Name of the field").required(),
               field(&NpyField::path, "path",
                     "A .npy file whose first axis counts the samples, or a folder of .npy files, one a sample, "
                     "in the order of their names, where 2.npy stands before 10.npy")
                   .required(),
               field(&NpyField::dtype, "dtype", "Type of the numbers in the file").required(),
               field(&NpyField::shape, "shape",
                     "Shape of one sample: the file's shape without its first axis; [] for one number")
                   .min(1)
                   .required())
};

struct NpyParams {
  std::vector<NpyField> fields;

  TENON_PARAMS(
      NpyParams,
      field(&NpyParams::fields, "fields", "Fields, each with as many samples as the others").min_items(1).required())
};

class Npy final : public Dataset {
 public:
  explicit Npy(const NpyParams& params) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < params.fields.size(); ++i) {
      const NpyField& field = params.fields[i];
      const std::string pointer = "/fields/" + std::to_string(i);
      if (!names.insert(field.name).second) {
        throw Error(ErrorCode::kConfig, "\"" + field.name + "\" is the name of another field already",
                    pointer + "/name");
      }
      const std::string& type = tenon_enum_names(field.dtype).names[static_cast<std::size_t>(field.dtype)];
      declared_.push_back({field.path, dtype_of(type).value(), field.shape, pointer});
      int64_t bytes = 8;
      for (const int64_t axis : field.shape) {
        if (__builtin_mul_overflow(bytes, axis, &bytes)) {
          throw Error(ErrorCode::kConfig, "a sample would have more than 2^63 bytes", pointer + "/shape");
        }
      }
      spec_.push_back({field.name, declared_.back().dtype, {field.shape.begin(), field.shape.end()}});
    }
  }

  static Ports ports() { return {{}, {Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static Example example() {
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
    header.resize(117, ' ');  // so that the numbers begin at a multiple of 64
    return {.params = R"({"fields": [{"name": "x", "path": "x.npy", "dtype": "uint8", "shape": [2]}]})",
            .files = {{"x.npy", std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\nabcdef"}},
            .inputs = {}};
  }

  [[nodiscard]] Spec spec() const override { return spec_; }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    fingerprint_ = "npy-1";
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      sources_.push_back(open_npy(declared_[i]));
      require_count(i);
      fingerprint_.append(":").append(spec_[i].name).append(" ").append(to_string(spec_[i]));
      fingerprint_.append("=").append(hex(sources_.back()->hash()));
    }
    if (size() == 0)
      throw Error(ErrorCode::kData, declared_.front().path.string() + ": holds no samples", "/fields/0/path");
    fingerprint_.append(":").append(std::to_string(size()));
  }

  [[nodiscard]] int64_t size() const override { return sources_.empty() ? 0 : sources_.front()->size(); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  void read(int64_t index, Sample& out) const override {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Array to = out.allocate(static_cast<int>(i), declared_[i].dtype, declared_[i].shape);
      sources_[i]->read(index, static_cast<std::byte*>(to.data));
    }
  }

 private:
  void require_count(std::size_t field) const {
    if (sources_[field]->size() == size()) return;
    throw Error(ErrorCode::kData,
                declared_[field].path.string() + ": holds " + std::to_string(sources_[field]->size()) +
                    " samples, but " + declared_.front().path.string() + " " + std::to_string(size()),
                declared_[field].pointer + "/path");
  }

  std::vector<NpyDeclared> declared_;
  Spec spec_;
  std::vector<std::unique_ptr<NpySource>> sources_;
  std::string fingerprint_;
};

TENON_COMPONENT(Npy, NpyParams, "npy", "Fields from numpy's .npy files, read where they lie")

}  // namespace tenon::datasets
