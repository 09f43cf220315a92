// What datasets of numpy's arrays share: an array a field, as many samples in each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <files/npy_array.hpp>
#include <npy/source.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/params.hpp>
#include <tenon/ports.hpp>

namespace tenon::datasets {

enum class NpyType { kBool, kUint8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64 };
TENON_ENUM(NpyType, "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")

/// The sample that parameters declare. \throws Error (kConfig) at `pointer` + "/shape" when no memory could hold it.
[[nodiscard]] NpySample declared_sample(NpyType type, const Shape& shape, const std::string& pointer);

class ArrayDataset : public Dataset, public InMemory, public Columns {
 public:
  static Ports ports() { return {{}, {Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {InMemory::kAbility, Columns::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override;

  [[nodiscard]] Spec spec() const final { return spec_; }
  [[nodiscard]] int64_t size() const final { return sources_.empty() ? 0 : sources_.front()->size(); }
  [[nodiscard]] std::string fingerprint() const final { return fingerprint_ + ":" + std::to_string(size()); }
  void read(int64_t index, Sample& out) const final;

  /// Where all arrays lie in C order, in a file that is mapped or in memory.
  [[nodiscard]] bool can_view() const noexcept final;
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept final;

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const final;

 protected:
  /// `format`: what fingerprints begin with, such as "npy-1".
  explicit ArrayDataset(std::string format) : fingerprint_(std::move(format)) {}

  /// Another field, in the constructor. \throws Error (kConfig) when there is one of that name.
  void declare(const std::string& name, NpySample sample, const std::string& pointer);

  [[nodiscard]] const NpySample& declared(std::size_t field) const { return samples_[field]; }

  /// The next field's samples, in open(); `name` is what messages call the array.
  /// \throws Error (kData) at `pointer` when there are not as many as in the first field, or none.
  void add(std::unique_ptr<NpySource> source, const std::string& name, const std::string& pointer);

 private:
  Spec spec_;
  std::vector<NpySample> samples_;
  std::vector<std::unique_ptr<NpySource>> sources_;
  std::string first_;  // name of the first array
  std::string fingerprint_;
};

}  // namespace tenon::datasets
