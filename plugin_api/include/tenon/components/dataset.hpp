// Datasets: items by index, named fields.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tenon/component.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon {

/// Items by index. Life: construction, spec(), open(), then size(), fingerprint() and read() as often as wanted.
class Dataset : public Component {
 public:
  static constexpr const char* kInterface = "tenon.dataset";
  static constexpr uint32_t kRevision = 1;

  /// The fields of one item, without a batch axis, from the parameters alone. Called before open() too. [trainer]
  [[nodiscard]] virtual Spec spec() const = 0;

  /// Opens files and builds the index; the only call that does I/O besides read(). Once. `inputs` are the datasets
  /// named by the node's `in`, opened already; they outlive this one. \throws Error (kData) naming file, place and fix.
  /// [trainer]
  virtual void open(std::span<Dataset* const> inputs) = 0;

  /// Number of items. After open(). [any thread]
  [[nodiscard]] virtual int64_t size() const = 0;

  /// Text that changes when any item could read differently, such as a hash of the data; of the sizes of all files and a
  /// sample of their bytes where the whole takes too long to read. It is part of checkpoints, which are equal byte by
  /// byte wherever the same data lies: no path, no time of a file. After open(). [any thread]
  [[nodiscard]] virtual std::string fingerprint() const = 0;

  /// Reads item `index`, 0 ≤ index < size(), into memory from `out.allocate`, every field of spec(), always the same
  /// bytes for the same index. Called concurrently from many threads.
  /// \throws Error (kData); kMemory, kStorage or std::bad_alloc where memory or file handles are at fault and not the
  /// item, which then ends the run whatever the loader tolerates; whatever else it throws counts as kData. [loader]
  virtual void read(int64_t index, Sample& out) const = 0;
};

}  // namespace tenon
