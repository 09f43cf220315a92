// Writing the metadata of a TorchScript file.
#include <torchscript/metadata.hpp>

namespace tenon::exporters {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

template <class List, class Spell>
std::string joined(const List& list, const Spell& spell) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : ", ") + spell(element);
  return text;
}

}  // namespace

std::string to_json(const Metadata& metadata) {
  const auto axes = [](const std::pair<const std::string, std::vector<int64_t>>& input) {
    return quoted(input.first) + ": [" + joined(input.second, [](int64_t axis) { return std::to_string(axis); }) + "]";
  };
  return "{\"format\": " + std::to_string(metadata.format) + ", \"inputs\": [" + joined(metadata.inputs, quoted) +
         "], \"outputs\": [" + joined(metadata.outputs, quoted) + "], \"dynamic\": {" + joined(metadata.dynamic, axes) +
         "}}\n";
}

}  // namespace tenon::exporters
