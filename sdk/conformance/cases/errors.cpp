// What a component throws when it is asked for what it cannot do.
#include <conformance/case.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <typeinfo>

#include <fmt/format.h>

#include <tenon/error.hpp>

namespace tenon::conformance {
namespace {

std::string type_in_flight() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an unknown type";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    &std::free);
  return status == 0 ? name.get() : type->name();
}

/// Uses it and looks at what it throws, if it does.
void ask(Bench& bench, const Trial& trial, const std::string& what) {
  bench.doing("use with " + what);
  const bool over_libtorch = bench.subject().kind != "transform" && bench.subject().kind != "dataset" &&
                             bench.subject().kind != "schedule" && bench.subject().kind != "observer";
  try {
    const std::unique_ptr<Use> use = use_of(bench.subject(), trial);
    use->prepare();
    Seen seen;
    use->go(0, 6, seen);
  } catch (const Error&) {
    return;
  } catch (const std::exception& error) {
    if (over_libtorch) return;  // libtorch's own errors are explained by the host
    bench.warn(
        fmt::format("with {} it throws {} ({}), and people see its bare text", what, type_in_flight(), error.what()),
        "throw tenon::Error with what is wrong and how to mend it", trial.params);
  } catch (...) {
    bench.fail(fmt::format("with {} it throws {}, which does not derive from std::exception", what, type_in_flight()),
               "throw tenon::Error: exceptions of other types lose their text at the border", trial.params);
  }
}

void types(Bench& bench) {
  for (const Trial& good : bench.trials()) {
    for (std::size_t i = 0; i < good.inputs.size(); ++i) {
      const FieldSpec& field = good.inputs[i].field;
      Trial trial = good;
      if (bench.subject().kind ==
          "transform") {  // elsewhere the host compares names and types with the port rules first
        trial.inputs.erase(trial.inputs.begin() + static_cast<std::ptrdiff_t>(i));
        ask(bench, trial, fmt::format("\"{}\" missing", field.name));
        for (const Dtype dtype : {Dtype::kUint8, Dtype::kInt64, Dtype::kFloat32, Dtype::kFloat64}) {
          if (dtype == field.dtype) continue;
          trial = good;
          trial.inputs[i].field.dtype = dtype;
          ask(bench, trial, fmt::format("\"{}\" of type {}", field.name, name_of(dtype)));
        }
      }
      trial = good;
      trial.inputs[i].field.shape.emplace_back(3);
      ask(bench, trial, fmt::format("\"{}\" with one axis more", field.name));
      if (field.shape.size() > 1) {
        trial = good;
        trial.inputs[i].field.shape.pop_back();
        ask(bench, trial, fmt::format("\"{}\" with one axis less", field.name));
        trial = good;
        trial.inputs[i].field.shape.back() = Dim(int64_t{0});
        ask(bench, trial, fmt::format("\"{}\" empty along its last axis", field.name));
      }
    }
    // Paths to nothing.
    Trial trial = good;
    trial.params = with_paths_below(bench.subject().first_params(), bench.subject().schema(), "/nowhere");
    if (trial.params != bench.subject().first_params()) ask(bench, trial, "files that are not there");
  }
}

constexpr Case kTypes{
    "errors.type",
    "Inputs that do not suit, and files that are not there, are answered with an Error, never with an "
    "exception of a foreign type.",
    "", &types};
TENON_CASE(kTypes);

}  // namespace
}  // namespace tenon::conformance
