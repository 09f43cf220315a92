// Exporters: a model into a file, and that file into something that runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tenon/component.hpp>
#include <tenon/components/model.hpp>
#include <tenon/params.hpp>
#include <tenon/tensors.hpp>

namespace tenon {

/// How the gate compares a file with the live model; a part of every exporter's parameters, as "verify".
///
/// A floating output agrees when each element does, got g where the live model gives w:
///   |g − w| <= rtol·|w| + atol·min(1, s),   s the largest finite |w| of that output at that batch size.
/// So `atol` is in the output's unit as long as its values reach 1, and a share of the largest where all are smaller: an
/// output of the size 1e-6 is compared as strictly as one of the size 1. Small values beside large ones in one output
/// are compared by the large ones; what has another scale belongs into an output of its own. Infinities must be equal,
/// NaN never agrees, and whole numbers and booleans must be equal. Type and shape must be the model's, always.
struct Verify {
  std::vector<int64_t> batch{1, 3, 17};
  double rtol = 1e-4;
  double atol = 1e-5;

  TENON_PARAMS(Verify,
               field(&Verify::batch, "batch", "Batch sizes at which the file must agree with the live model")
                   .min(1)
                   .min_items(1),
               field(&Verify::rtol, "rtol", "Difference that is let through, as a share of the value").min(0),
               field(&Verify::atol, "atol",
                     "Difference that is let through besides, in the output's unit; a share of the output's largest "
                     "value where that is below 1")
                   .min(0))
};

/// A loaded file. [trainer]
class Runnable {
 public:
  virtual ~Runnable() = default;

  /// Tensors by the model's input ports in, by its output ports out. A function of its inputs: the same bits at every
  /// call, whatever was called in between.
  [[nodiscard]] virtual Tensors run(const Tensors& in) = 0;
};

class Exporter : public Component {
 public:
  static constexpr const char* kInterface = "tenon.exporter";
  static constexpr uint32_t kRevision = 1;

  /// File name extension, with the dot.
  [[nodiscard]] virtual std::string extension() const = 0;

  /// What the gate is to check.
  [[nodiscard]] virtual const Verify& verify() const = 0;

  /// Writes the model, in evaluation, on the CPU. `example` are inputs by port, with a batch that verify() does not
  /// name; `outputs` are the model's output ports. The weights are copied: later changes of the model do not reach the
  /// file, and the model stays as it is. The one file holds everything and is closed at the end; nothing lies beside it.
  /// \throws Error (kVerification) when the model cannot be expressed, naming the operation or module. [trainer]
  virtual void write(Model& model, const Tensors& example, const std::vector<std::string>& outputs,
                     const std::filesystem::path& file) = 0;

  /// Opens the file alone, for reading: nothing but this component and the file is known, in another process as well.
  /// [trainer]
  [[nodiscard]] virtual std::unique_ptr<Runnable> open(const std::filesystem::path& file) = 0;
};

/// Ability of an exporter whose files store the model's tensors as they are: the gate compares each with the live model
/// bit by bit, which also finds a changed weight that hardly shows in the outputs. A class that has it lists kAbility in
/// `static std::vector<std::string> abilities()` and returns its StoredTensors from ability().
class StoredTensors {
 public:
  static constexpr const char* kAbility = "tenon.stored_tensors/1";

  /// Parameters and buffers in the file under the model's own names ("block1.conv.weight"), without those that the
  /// format transforms. \throws Error (kVerification) for a file that cannot be read. [trainer]
  [[nodiscard]] virtual Tensors stored(const std::filesystem::path& file) = 0;

 protected:
  ~StoredTensors() = default;
};

}  // namespace tenon
