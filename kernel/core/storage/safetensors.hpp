// Tensors in files that Python's safetensors reads and writes: u64 length, JSON header, bytes.
//
// What is written is canonical. The order is that of the reference writer: element types from int64 down to bool, names
// within a type, so that each tensor is aligned and the bytes equal those that Python's safetensors gives.
// Names of tied tensors follow Python's `save_model`: metadata maps the name left out to the name that is in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tenon/array.hpp>

namespace tenon::core {

/// A tensor to be written. The array's data and shape belong to the caller until the writing function returns.
struct NamedArray {
  std::string name;
  Array array;
};

using Metadata = std::map<std::string, std::string, std::less<>>;

/// Hands out the file's bytes in pieces, from first to last.
class ByteSink {
 public:
  virtual void write(std::span<const std::byte> bytes) = 0;

 protected:
  ~ByteSink() = default;
};

/// Writes the tensors in canonical order, whatever their order here. \throws Error (kStorage) for a name that is empty,
/// "__metadata__" or there twice, and what the sink throws. [any thread]
void write_safetensors(std::span<const NamedArray> tensors, const Metadata& metadata, ByteSink& sink);

/// Writes a file, atomically. \throws Error (kStorage).
void write_safetensors(const std::filesystem::path& path, std::span<const NamedArray> tensors,
                       const Metadata& metadata = {});

/// Bytes that write_safetensors gives.
[[nodiscard]] uint64_t safetensors_size(std::span<const NamedArray> tensors, const Metadata& metadata = {});

/// The content of a safetensors file, held in memory. Movable; pointers into it stay valid. Reading is safe from any
/// thread. Element types that Tenon has no name for, overlaps, gaps, sizes that do not fit and duplicates are refused.
class Safetensors {
 public:
  struct Tensor {
    std::string name;
    Shape shape;
    Array array;  ///< Into the owned memory, aligned to its element type; `array.shape` views `shape`.
  };

  /// Reads a file. \throws Error (kCheckpoint) naming file, tensor and what is wrong.
  [[nodiscard]] static Safetensors read(const std::filesystem::path& path);

  /// Takes bytes apart; `name` stands for the file in messages.
  [[nodiscard]] static Safetensors parse(std::span<const std::byte> bytes, const std::string& name);

  Safetensors(Safetensors&&) noexcept = default;
  Safetensors& operator=(Safetensors&&) noexcept = default;

  /// By name.
  [[nodiscard]] std::span<const Tensor> tensors() const noexcept { return tensors_; }

  /// The tensor of that name, aliases followed, or nullptr.
  [[nodiscard]] const Tensor* find(std::string_view name) const noexcept;

  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }

  /// Metadata entries that name a tied tensor: alias → name of a tensor in the file.
  [[nodiscard]] Metadata aliases() const;

 private:
  struct Memory {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  Safetensors(std::string_view header, Memory data);
  void take_entry(const std::string& name, const nlohmann::json& entry);
  void place_tensors();
  [[nodiscard]] const Tensor* own(std::string_view name) const noexcept;

  Memory data_;
  std::vector<std::unique_ptr<std::byte[]>> realigned_;  // tensors that the file keeps at odd places
  std::vector<Tensor> tensors_;
  Metadata metadata_;
};

}  // namespace tenon::core
