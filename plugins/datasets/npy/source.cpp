// Files are mapped. Those of a folder one at a time: a process may have some 65,000 mappings, and a folder more files.
#include <npy/source.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <files/mapped_file.hpp>
#include <npy/header.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>
#include <tenon/spec.hpp>

namespace tenon::datasets {
namespace {

namespace fs = std::filesystem;

std::string text(Dtype dtype, std::span<const int64_t> shape) {
  return to_string(FieldSpec{{}, dtype, {shape.begin(), shape.end()}});
}

/// A .npy file whose numbers are all there.
class ArrayFile {
 public:
  ArrayFile(const fs::path& path, const std::string& pointer) : file_(path, pointer) {
    const auto fail = [&](const std::string& why) {
      throw Error(ErrorCode::kData, path.string() + ": " + why, pointer);
    };
    try {
      header_ = parse_npy_header(file_.text());
    } catch (const Error& error) {
      fail(error.what());
    }
    auto bytes = static_cast<int64_t>(size_of(header_.dtype));
    for (const int64_t axis : header_.shape) {
      if (__builtin_mul_overflow(bytes, axis, &bytes)) fail("its header is damaged: the shape is too large");
    }
    const uint64_t expected = header_.data_offset + static_cast<uint64_t>(bytes);
    const uint64_t found = file_.bytes().size();
    if (expected != found) {
      fail((found < expected ? "is cut off: " : "is too long: ") + text(header_.dtype, header_.shape) + " takes " +
           std::to_string(expected) + " bytes with its header, and it has " + std::to_string(found));
    }
  }

  [[nodiscard]] const NpyHeader& header() const { return header_; }
  [[nodiscard]] std::span<const std::byte> data() const { return file_.bytes().subspan(header_.data_offset); }

 private:
  MappedFile file_;
  NpyHeader header_;
};

/// Copies numbers from where the first of the axes runs fastest to row-major order. `strides` are in elements.
void gather(const std::byte* from, std::size_t width, std::span<const int64_t> shape, std::span<const int64_t> strides,
            std::byte* to) {
  const int64_t count = elements(shape);
  Shape at(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i, to += width) {
    std::memcpy(to, from + static_cast<std::size_t>(offset) * width, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

Shape fortran_strides(std::span<const int64_t> shape) {
  Shape strides;
  int64_t stride = 1;
  for (const int64_t axis : shape) {
    strides.push_back(stride);
    stride *= axis;
  }
  return strides;
}

void require(const NpyDeclared& declared, const fs::path& path, Dtype dtype, std::span<const int64_t> sample) {
  if (dtype == declared.dtype &&
      std::equal(sample.begin(), sample.end(), declared.shape.begin(), declared.shape.end())) {
    return;
  }
  throw Error(ErrorCode::kData,
              path.string() + ": a sample of it is " + text(dtype, sample) + ", but the pipeline says " +
                  text(declared.dtype, declared.shape) + ": give what the file holds",
              declared.pointer + (dtype == declared.dtype ? "/shape" : "/dtype"));
}

class OneFile final : public NpySource {
 public:
  explicit OneFile(const NpyDeclared& declared) : file_(declared.path, declared.pointer + "/path") {
    const NpyHeader& header = file_.header();
    if (header.shape.empty()) {
      throw Error(ErrorCode::kData,
                  declared.path.string() + ": holds a single number, but its first axis has to count the samples",
                  declared.pointer + "/path");
    }
    sample_ = std::span(header.shape).subspan(1);
    require(declared, declared.path, header.dtype, sample_);
    width_ = size_of(header.dtype);
    bytes_ = width_ * static_cast<std::size_t>(elements(sample_));
    if (header.fortran_order && !sample_.empty()) strides_ = fortran_strides(header.shape);
  }

  [[nodiscard]] int64_t size() const override { return file_.header().shape.front(); }
  [[nodiscard]] uint64_t hash() const override { return content_hash(file_.data(), strides_.empty() ? 0 : 1); }

  void read(int64_t index, std::byte* to) const override {
    const auto item = static_cast<std::size_t>(index);
    if (strides_.empty()) {
      if (bytes_ > 0) std::memcpy(to, file_.data().data() + item * bytes_, bytes_);
    } else {
      gather(file_.data().data() + item * width_, width_, sample_, std::span(strides_).subspan(1), to);
    }
  }

 private:
  ArrayFile file_;
  std::span<const int64_t> sample_;
  std::size_t width_ = 0;
  std::size_t bytes_ = 0;
  Shape strides_;  // of all axes in Fortran order, empty in C order
};

/// Numbers within names count as such: "2.npy" stands before "10.npy".
bool comes_before(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    return text.substr(0, end);
  };
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    std::string_view number_a = digits(rest_a);
    std::string_view number_b = digits(rest_b);
    if (number_a.empty() || number_b.empty()) {
      const auto byte_a = static_cast<unsigned char>(rest_a.front());
      const auto byte_b = static_cast<unsigned char>(rest_b.front());
      if (byte_a != byte_b) return byte_a < byte_b;
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
      continue;
    }
    rest_a.remove_prefix(number_a.size());
    rest_b.remove_prefix(number_b.size());
    number_a.remove_prefix(std::min(number_a.find_first_not_of('0'), number_a.size()));
    number_b.remove_prefix(std::min(number_b.find_first_not_of('0'), number_b.size()));
    if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
    if (number_a != number_b) return number_a < number_b;
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;  // "01.npy" and "1.npy"
}

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
    std::vector<std::byte> sample(size_of(declared_.dtype) * static_cast<std::size_t>(elements(declared_.shape)));
    for (int64_t i = 0; i < size(); ++i) {
      read(i, sample.data());
      hash_ = random_key({hash_, content_hash(sample)});
    }
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  [[nodiscard]] uint64_t hash() const override { return hash_; }

  void read(int64_t index, std::byte* to) const override {
    const fs::path path = declared_.path / files_.at(static_cast<std::size_t>(index));
    const ArrayFile file(path, declared_.pointer + "/path");
    const NpyHeader& header = file.header();
    require(declared_, path, header.dtype, header.shape);
    if (header.fortran_order) {
      gather(file.data().data(), size_of(header.dtype), header.shape, fortran_strides(header.shape), to);
    } else if (!file.data().empty()) {
      std::memcpy(to, file.data().data(), file.data().size());
    }
  }

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
