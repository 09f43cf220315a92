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
struct Verify {
  std::vector<int64_t> batch{1, 3, 17};
  double rtol = 1e-4;
  double atol = 1e-5;

  TENON_PARAMS(Verify,
               field(&Verify::batch, "batch", "Batch sizes at which the file must agree with the live model")
                   .min(1)
                   .min_items(1),
               field(&Verify::rtol, "rtol", "Relative difference that is let through").min(0),
               field(&Verify::atol, "atol", "Absolute difference that is let through").min(0))
};

/// A loaded file. [trainer]
class Runnable {
 public:
  virtual ~Runnable() = default;

  /// Tensors by the model's input ports in, by its output ports out.
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
  /// file. \throws Error (kVerification) when the model cannot be expressed, naming the operation or module. [trainer]
  virtual void write(Model& model, const Tensors& example, const std::vector<std::string>& outputs,
                     const std::filesystem::path& file) = 0;

  /// Opens the file alone: nothing but this component and the file is known, in another process as well. [trainer]
  [[nodiscard]] virtual std::unique_ptr<Runnable> open(const std::filesystem::path& file) = 0;
};

}  // namespace tenon
