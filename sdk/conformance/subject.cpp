// What the manifest's entry says, as values.
#include <conformance/subject.hpp>

#include <algorithm>
#include <cctype>
#include <fstream>

#include <tenon/error.hpp>

namespace tenon::conformance {
namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

void merge(Json& params, const Json& over) {
  for (const auto& [name, value] : over.items()) params[name] = value;
}

}  // namespace

bool Subject::has(const char* list, const std::string& entry) const {
  const Json& entries = manifest.at(list);
  return std::find(entries.begin(), entries.end(), Json(entry)) != entries.end();
}

Json with_paths_below(Json value, const Json& schema, const std::filesystem::path& folder) {
  if (value.is_string() && says(schema, "x-path")) {
    for (const char* const choice : {"anyOf", "oneOf"}) {
      if (!schema.contains(choice)) continue;
      for (const Json& each : schema[choice]) {
        if (each.contains("const") && each["const"] == value) return value;
      }
    }
    return (folder / value.get<std::string>()).string();
  }
  if (value.is_array() && schema.contains("items")) {
    for (Json& each : value) each = with_paths_below(each, schema["items"], folder);
  }
  if (value.is_object() && schema.contains("properties")) {
    for (const auto& [name, member] : value.items()) {
      if (schema["properties"].contains(name)) member = with_paths_below(member, schema["properties"][name], folder);
    }
  }
  return value;
}

Json Subject::first_params() const {
  Json params = plain_object(schema());
  if (manifest.contains("example")) merge(params, manifest["example"]["with"]);
  return with_paths_below(std::move(params), schema(), scratch);
}

void Subject::write_files() const {
  if (!manifest.contains("example")) return;
  for (const Json& file : manifest["example"]["files"]) {
    const std::filesystem::path relative = file["name"].get<std::string>();
    const bool leaves = relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end();
    if (leaves)
      throw Error(ErrorCode::kConfig, "the example's file " + relative.string() + " lies outside of its folder");
    std::filesystem::create_directories((scratch / relative).parent_path());
    std::ofstream stream(scratch / relative, std::ios::binary);
    stream << (file.contains("text") ? file["text"].get<std::string>() : bytes_of(file.value("hex", "")));
  }
}

std::vector<ExampleInput> Subject::example_inputs() const {
  std::vector<ExampleInput> inputs;
  if (!manifest.contains("example")) return inputs;
  for (const Json& each : manifest["example"]["inputs"]) {
    ExampleInput input;
    input.field.name = each["name"];
    input.field.dtype = dtype_of(each["dtype"].get<std::string>()).value_or(Dtype::kFloat32);
    for (const Json& axis : each["shape"]) {
      input.field.shape.push_back(axis.is_string() ? Dim(axis.get<std::string>()) : Dim(axis.get<int64_t>()));
    }
    input.low = each["low"];
    input.high = each["high"];
    inputs.push_back(std::move(input));
  }
  return inputs;
}

harness::Made<Component> Subject::make(const Json& params) const { return registry.create(*descriptor, params.dump()); }

}  // namespace tenon::conformance
