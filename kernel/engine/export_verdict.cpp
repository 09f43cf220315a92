// From the coarse to the fine: the first thing that is wrong explains those behind it.
#include <engine/export_verdict.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <engine/step_graph.hpp>

namespace tenon::engine {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr const char* kBaked =
    ". It is right at the batch with which it was written: a size or a value of that example became a constant of the "
    "file. Take sizes from nn::size_of, shapes through nn::reshape, and keep values in tensors";
constexpr const char* kOtherModel =
    ". The file does not hold the model's weights and operations: look for what was changed after the trace, "
    "or exported in training";

std::string quoted(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("\"{}\"", fmt::join(names, "\", \""));
}

std::string spread(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.numel() == 0) return "";
  return fmt::format(" ({:.3g} apart)", (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>());
}

class Verdict {
 public:
  Verdict(const std::vector<ExportCase>& cases, const Returned& returned, const Promised& promised,
          const Refuse& refuse)
      : cases_(cases), returned_(returned), promised_(promised), refuse_(refuse) {}

  [[nodiscard]] std::vector<Difference> differences() const {
    if (!returned_.problem.empty()) refuse_run();
    require_stored();
    require_function();
    std::vector<Difference> all = compare_all(returned_.first.size());
    for (const std::string& name : promised_.outputs) (void)compare(0, name, kFar);
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    refuse_(message);
    std::abort();  // it does not return
  }

  /// All outputs of the first `count` cases but the example's.
  [[nodiscard]] std::vector<Difference> compare_all(std::size_t count) const {
    const double example = example_distance();
    std::vector<Difference> all;
    for (std::size_t i = 1; i < count; ++i) {
      for (const std::string& name : promised_.outputs) all.push_back(compare(i, name, example));
    }
    return all;
  }

  /// Something is missing; what came before it may be wrong already, and says more.
  [[noreturn]] void refuse_run() const {
    const std::string& problem = returned_.problem;
    const std::size_t ran = returned_.first.size();
    const std::size_t again = returned_.second.size();
    const int64_t example = cases_.front().batch;
    if (ran > 0) (void)compare_all(ran);
    if (ran == 0) {
      fail(
          fmt::format("the file does not open and run alone in a second process, not even on the example of batch {} "
                      "with which it was written: {}",
                      example, problem));
    }
    if (ran < cases_.size()) {
      fail(fmt::format("the file does not run in a second process at batch {}: {}{}", cases_[ran].batch, problem,
                       example_distance() < kFar ? kBaked : ""));
    }
    if (again < cases_.size()) {
      fail(fmt::format("the file runs once, but not a second time in the same process, at batch {}: {}",
                       cases_[again].batch, problem));
    }
    fail(fmt::format("the file runs in a second process, which fails afterwards: {}", problem));
  }

  void require_stored() const {
    for (const auto& [name, print] : returned_.stored) {
      const auto live = promised_.tensors.find(name);
      if (live == promised_.tensors.end()) {
        fail(fmt::format("the file stores a tensor \"{}\" that the model does not have", name));
      }
      if (live->second == print) continue;
      fail(
          fmt::format("the tensor \"{}\" in the file differs from the live model's: {} there, {} here (type, shape, "
                      "SHA-256). The exporter must write weights as they are, and not touch them after the trace",
                      name, print, live->second));
    }
  }

  /// The same inputs must give the same bits.
  void require_function() const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      for (const auto& [name, tensor] : returned_.first[i]) {
        const at::Tensor* const again = returned_.second[i].find(name);
        if (again != nullptr && same_bits(tensor, *again)) continue;
        fail(
            fmt::format("the file is no function of its inputs: called twice on the same inputs at batch {}, it gives "
                        "two different outputs \"{}\"{}. Something in it is random or keeps state, such as dropout or "
                        "batch norm exported in training: the exporter must run the model in evaluation",
                        cases_[i].batch, name, again == nullptr ? "" : spread(tensor, *again)));
      }
    }
  }

  /// How far the file is off on the example, as a share of the size of the numbers; infinite when it does not agree.
  [[nodiscard]] double example_distance() const {
    double distance = 0;
    for (const std::string& name : promised_.outputs) {
      const at::Tensor* const got = returned_.first.front().find(name);
      const at::Tensor& wanted = cases_.front().wanted.at(name);
      if (got == nullptr || got->scalar_type() != wanted.scalar_type() || got->sizes() != wanted.sizes()) return kFar;
      const Difference found = difference(cases_.front().batch, name, *got, wanted, promised_.verify);
      if (!found.within) return kFar;
      if (found.max_abs > 0) distance = std::max(distance, found.max_abs / found.magnitude);
    }
    return distance;
  }

  [[nodiscard]] Difference compare(std::size_t place, const std::string& name, double example) const {
    const Tensors& all = returned_.first[place];
    const int64_t batch = cases_[place].batch;
    const at::Tensor& wanted = cases_[place].wanted.at(name);
    const at::Tensor* const got = all.find(name);
    if (got == nullptr || all.size() != promised_.outputs.size()) {
      std::vector<std::string> names;
      for (const auto& [found, tensor] : all) names.push_back(found);
      fail(fmt::format(
          "at batch {} the file gives the outputs {} where the model gives {}. The exporter must write every "
          "output that it is told, under its own name, and no other",
          batch, quoted(names), quoted(promised_.outputs)));
    }
    const std::string subject = fmt::format("at batch {} the output \"{}\" of the file", batch, name);
    if (got->scalar_type() != wanted.scalar_type()) {
      fail(fmt::format("{} is {} where the model gives {}. The exporter must keep the element type", subject,
                       describe(*got), describe(wanted)));
    }
    if (got->sizes() != wanted.sizes()) {
      fail(fmt::format("{} is {} where the model gives {}{}", subject, describe(*got), describe(wanted),
                       example < kFar ? kBaked : ""));
    }
    Difference found = difference(batch, name, *got, wanted, promised_.verify);
    // A changed weight may stay within the tolerance on the example, and then only just.
    const bool baked = found.max_abs > 100 * example * found.magnitude;
    if (!found.within) refuse_difference(subject, found, *got, baked ? kBaked : kOtherModel);
    return found;
  }

  [[noreturn]] void refuse_difference(const std::string& subject, const Difference& found, const at::Tensor& got,
                                      const char* hint) const {
    if (!at::isFloatingType(got.scalar_type())) {
      fail(fmt::format("{} differs from the live model by {:g}, and whole numbers must be equal{}", subject,
                       found.max_abs, hint));
    }
    if (got.isnan().any().item<bool>()) fail(subject + " is NaN where the model gives a number" + hint);
    fail(fmt::format(
        "{} differs from the live model by {:.3g} (relative {:.3g}), more than rtol {:g} and atol {:g} let "
        "through among values up to {:.3g}{}",
        subject, found.max_abs, found.max_rel, promised_.verify.rtol, promised_.verify.atol, found.magnitude, hint));
  }

  const std::vector<ExportCase>& cases_;
  const Returned& returned_;
  const Promised& promised_;
  const Refuse& refuse_;
};

}  // namespace

std::vector<Difference> judge(const std::vector<ExportCase>& cases, const Returned& returned, const Promised& promised,
                              const Refuse& refuse) {
  return Verdict(cases, returned, promised, refuse).differences();
}

}  // namespace tenon::engine
