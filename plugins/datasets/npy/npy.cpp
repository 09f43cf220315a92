// dataset:npy: numpy's own files, one a field or one a sample.
#include <memory>
#include <string>
#include <vector>

#include <npy/array_dataset.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

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

class Npy final : public ArrayDataset {
 public:
  explicit Npy(NpyParams params) : ArrayDataset("npy-1"), params_(std::move(params)) {
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const NpyField& field = params_.fields[i];
      declare(field.name, declared_sample(field.dtype, field.shape, pointer_of(i)), pointer_of(i));
    }
  }

  static Example example() {
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
    header.resize(117, ' ');  // so that the numbers begin at a multiple of 64
    return {.params = R"({"fields": [{"name": "x", "path": "x.npy", "dtype": "uint8", "shape": [2]}]})",
            .files = {{"x.npy", std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\nabcdef"}},
            .inputs = {}};
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const std::filesystem::path& path = params_.fields[i].path;
      add(open_npy({path, declared(i), pointer_of(i)}), path.string(), pointer_of(i) + "/path");
    }
  }

 private:
  static std::string pointer_of(std::size_t field) { return "/fields/" + std::to_string(field); }

  NpyParams params_;
};

TENON_COMPONENT(Npy, NpyParams, "npy", "Fields from numpy's .npy files, read where they lie")

}  // namespace tenon::datasets
