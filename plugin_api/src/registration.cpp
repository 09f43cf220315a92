// What a component says of itself, and failures behind a noexcept border.
#include <tenon/registration.hpp>

#include <cxxabi.h>

#include <cstring>
#include <typeinfo>

#include <nlohmann/json.hpp>

namespace tenon::detail {
namespace {

using Json = nlohmann::json;  // sorts its keys: canonical text

Json port_json(const Port& port) {
  if (port.open) return Json{{"open", true}};
  if (port.pass) {
    Json rule{{"pass", "*"}};
    if (!port.except.empty()) rule["except"] = port.except;
    return rule;
  }
  Json json{{"name", port.name}};
  for (const Dtype dtype : port.dtypes) json["dtype"].push_back(name_of(dtype));
  if (port.same_shape) {
    json["shape"] = "same";
  } else if (!port.any_shape) {
    json["shape"] = Json::array();
    for (const Port::Axis& axis : port.shape) {
      std::visit([&](const auto& value) { json["shape"].push_back(value); }, axis);
    }
  }
  if (port.optional) json["optional"] = true;
  if (!port.like.empty()) json["like"] = port.like;
  if (!port.classes.empty()) json["classes"] = port.classes;
  if (!port.copies.empty()) json["copies"] = port.copies;
  return json;
}

Json ports_json(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports) list.push_back(port_json(port));
  return list;
}

std::string hex_of(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

bool is_plain_text(const std::string& bytes) {
  for (const char c : bytes) {
    if ((c < ' ' && c != '\n' && c != '\t') || c > '~') return false;
  }
  return true;
}

Json example_json(const Example& example) {
  Json json{{"with", Json::parse(example.params)}, {"files", Json::array()}, {"inputs", Json::array()}};
  for (const ExampleFile& file : example.files) {
    const bool plain = is_plain_text(file.content);
    json["files"].push_back(
        {{"name", file.name}, {plain ? "text" : "hex", plain ? file.content : hex_of(file.content)}});
  }
  for (const ExampleInput& input : example.inputs) {
    Json shape = Json::array();
    for (const Dim& dim : input.field.shape) {
      if (dim.fixed()) {
        shape.push_back(dim.size);
      } else {
        shape.push_back(dim.symbol);
      }
    }
    json["inputs"].push_back({{"name", input.field.name},
                              {"dtype", name_of(input.field.dtype)},
                              {"shape", shape},
                              {"low", input.low},
                              {"high", input.high}});
  }
  return json;
}

std::string type_name_in_flight() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown";
  int status = 0;
  char* const demangled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type->name();
  std::free(demangled);  // NOLINT(cppcoreguidelines-no-malloc): given by __cxa_demangle
  return name;
}

}  // namespace

std::string describe(const Description& description) {
  const std::string_view interface = description.interface;
  Json json{{"kind", interface.substr(interface.rfind('.') + 1)},
            {"name", description.name},
            {"summary", description.summary},
            {"interface", interface},
            {"revision", description.revision},
            {"parameters", Json::parse(schema_of(*description.fields))},
            {"ports", {{"in", ports_json(description.ports.in)}, {"out", ports_json(description.ports.out)}}},
            {"traits", description.traits},
            {"abilities", description.abilities}};
  if (!description.outputs.empty()) {
    for (const MetricOutput& output : description.outputs) {
      json["metrics"].push_back(
          {{"name", output.name}, {"direction", output.direction == Direction::kMax ? "max" : "min"}});
    }
  }
  if (description.example) json["example"] = example_json(*description.example);
  return json.dump();
}

void report_current(const ErrorSink& sink) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    sink.report(sink.self, error.code(), error.pointer().c_str(), error.what());
  } catch (const std::bad_alloc&) {
    sink.report(sink.self, ErrorCode::kMemory, "", "out of memory");
  } catch (const std::exception& error) {
    sink.report(sink.self, ErrorCode::kPlugin, "", error.what());
  } catch (...) {
    try {
      const std::string message =
          "threw an exception of the type " + type_name_in_flight() + ", which does not derive from std::exception";
      sink.report(sink.self, ErrorCode::kPlugin, "", message.c_str());
    } catch (...) {
      sink.report(sink.self, ErrorCode::kPlugin, "", "threw an exception of a foreign type");
    }
  }
}

}  // namespace tenon::detail
