// From port rules to arrays.
#include <conformance/inputs.hpp>

#include <algorithm>
#include <functional>
#include <map>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <conformance/declared_ports.hpp>
#include <tenon/components/batch_transform.hpp>

namespace tenon::conformance {
namespace {

constexpr int64_t kClasses = 4;

bool is_whole(Dtype dtype) { return dtype != Dtype::kFloat16 && dtype != Dtype::kBfloat16 && dtype < Dtype::kFloat16; }

/// Sizes of named axes; a parameter's value where the rule names one.
int64_t size_of_symbol(const std::string& symbol, const Json& params) {
  if (symbol.starts_with('$')) {
    const auto found = params.find(symbol.substr(1));
    return found != params.end() && found->is_number_integer() ? found->get<int64_t>() : kClasses;
  }
  return symbol == "C" ? kClasses : 6;
}

/// Ways to read the shape rule of one port: "*" stands for any axes.
std::vector<std::vector<Dim>> shapes_of(const Json& port, const Json& params, bool batched) {
  const std::vector<std::vector<Dim>> free = batched ? std::vector<std::vector<Dim>>{{}, {kClasses}, {3, 6}, {3, 6, 6}}
                                                     : std::vector<std::vector<Dim>>{{1, 6, 6}, {}, {4}, {3, 6, 6}};
  if (!port.contains("shape") || port["shape"] == "same") {
    std::vector<std::vector<Dim>> shapes = free;
    if (batched) {
      for (std::vector<Dim>& shape : shapes) shape.insert(shape.begin(), Dim("N"));
    }
    return shapes;
  }
  std::vector<std::vector<Dim>> shapes{{}};
  for (const Json& axis : port["shape"]) {
    std::vector<std::vector<Dim>> grown;
    for (const std::vector<Dim>& shape : shapes) {
      const std::string symbol = axis.is_string() ? axis.get<std::string>() : "";
      const auto push = [&](const std::vector<Dim>& more) {
        grown.push_back(shape);
        grown.back().insert(grown.back().end(), more.begin(), more.end());
      };
      if (symbol == "*") {
        for (const std::vector<Dim>& more : free) push(more);
      } else if (symbol == "N" && batched) {
        push({Dim("N")});
      } else {
        push({symbol.empty() ? axis.get<int64_t>() : size_of_symbol(symbol, params)});
      }
    }
    shapes = std::move(grown);
  }
  return shapes;
}

Dtype dtype_of_port(const Json& port, Dtype otherwise) {
  if (!port.contains("dtype") || port["dtype"].empty()) return otherwise;
  for (const Json& each : port["dtype"]) {
    if (each == std::string(name_of(otherwise))) return otherwise;
  }
  return dtype_of(port["dtype"].front().get<std::string>()).value_or(otherwise);
}

struct Wanted {
  std::string name;
  Dtype dtype;
  std::vector<std::vector<Dim>> shapes;
};

std::vector<Inputs> combined(const std::vector<Wanted>& wanted) {
  std::vector<Inputs> all{{}};
  for (const Wanted& each : wanted) {
    std::vector<Inputs> grown;
    for (const Inputs& inputs : all) {
      for (const std::vector<Dim>& shape : each.shapes) {
        if (grown.size() >= 256) break;
        grown.push_back(inputs);
        const double high =
            is_whole(each.dtype) ? (each.dtype == Dtype::kBool ? 2 : static_cast<double>(kClasses)) : 0.95;
        grown.back().push_back({{each.name, each.dtype, shape}, is_whole(each.dtype) ? 0 : 0.05, high});
      }
    }
    all = std::move(grown);
  }
  return all;
}

Rng rng_for(const std::string& name, uint64_t seed, int64_t index) {
  return Rng(random_key({seed, name_key(name), static_cast<uint64_t>(index)}));
}

double drawn(const ExampleInput& input, Rng& random) {
  if (!is_whole(input.field.dtype)) return random.uniform(input.low, input.high);
  return static_cast<double>(random.integer(static_cast<int64_t>(input.low), static_cast<int64_t>(input.high) - 1));
}

void write(const Array& array, int64_t at, double value) {
  const auto put = [&]<class T>(T zero) {
    zero = static_cast<T>(value);
    array.as<T>()[static_cast<std::size_t>(at)] = zero;
  };
  switch (array.dtype) {
    case Dtype::kBool: return put(bool{});
    case Dtype::kUint8: return put(uint8_t{});
    case Dtype::kInt8: return put(int8_t{});
    case Dtype::kInt16: return put(int16_t{});
    case Dtype::kInt32: return put(int32_t{});
    case Dtype::kInt64: return put(int64_t{});
    case Dtype::kFloat32: return put(float{});
    case Dtype::kFloat64: return put(double{});
    default: static_cast<uint16_t*>(array.data)[at] = 0x3C00; return;  // 1 in float16
  }
}

}  // namespace

std::vector<Inputs> candidates(const Subject& subject, const Json& params) {
  if (const Inputs given = subject.example_inputs(); !given.empty()) return {given};
  const bool batched = subject.kind != "transform" || subject.has("abilities", BatchTransform::kAbility);
  std::vector<Inputs> all;
  for (const bool optional_too : {true, false}) {
    std::vector<Wanted> wanted;
    bool any_optional = false;
    for (const Json& port : subject.manifest["ports"]["in"]) {
      if (!port.contains("name")) continue;
      const bool optional = port.value("optional", false);
      any_optional = any_optional || optional;
      if (optional && !optional_too) continue;
      for (const std::string& name : names_of(port, params)) {
        wanted.push_back({name, dtype_of_port(port, Dtype::kFloat32), shapes_of(port, params, batched)});
      }
    }
    // A field that nobody names: it must be handed on as it is.
    if (!batched) wanted.push_back({"conformance_other", Dtype::kUint8, {{2}}});
    if (optional_too || any_optional) {
      for (Inputs& each : combined(wanted)) all.push_back(std::move(each));
    }
  }
  return all;
}

harness::MemorySample draw_sample(const Inputs& inputs, uint64_t seed, int64_t index) {
  harness::MemorySample sample;
  for (const ExampleInput& input : inputs) {
    Shape shape;
    for (const Dim& dim : input.field.shape) shape.push_back(dim.fixed() ? dim.size : 6);
    const Array array = sample.add(input.field.name, input.field.dtype, shape);
    Rng random = rng_for(input.field.name, seed, index);
    for (int64_t i = 0; i < array.elements(); ++i) write(array, i, drawn(input, random));
    const bool odd = index % 6 == 5 && is_whole(input.field.dtype) && input.field.dtype != Dtype::kBool;
    if (odd && array.elements() > 0) write(array, 0, input.high + 3);
  }
  return sample;
}

Tensors draw_batch(const Inputs& inputs, uint64_t seed, int64_t index, int64_t batch) {
  Tensors tensors;
  for (const ExampleInput& input : inputs) {
    std::vector<int64_t> shape;
    for (const Dim& dim : input.field.shape) shape.push_back(dim.fixed() ? dim.size : dim.symbol == "N" ? batch : 6);
    at::Tensor tensor = at::empty(shape, at::TensorOptions(at::kDouble));
    Rng random = rng_for(input.field.name, seed, index);
    auto* const values = tensor.mutable_data_ptr<double>();
    for (int64_t i = 0; i < tensor.numel(); ++i) values[i] = drawn(input, random);
    tensors.set(input.field.name, tensor.to(scalar_type(input.field.dtype)));
  }
  return tensors;
}

std::string to_string(const Inputs& inputs) {
  std::string text;
  for (const ExampleInput& each : inputs) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.field.name, tenon::to_string(each.field));
  }
  return text.empty() ? "no inputs" : text;
}

}  // namespace tenon::conformance
