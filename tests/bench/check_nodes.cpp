// How long a check takes by the number of nodes: right and faulty pipelines, read, resolved, made a graph and rendered.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <core/graph/build.hpp>
#include <core/text/render.hpp>

namespace tenon::core {
namespace {

constexpr int kRuns = 3;  // Of which the fastest counts.

Catalogue installed() {
  std::vector<PluginInfo> plugins;
  for (const char* const name : {"demo.json", "extra.json"}) {
    std::ifstream file(std::filesystem::path(TENON_SOURCE_DIR) / "tests/core/graph/manifests" / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    plugins.push_back(parse_manifest(std::string_view{text}));
  }
  return Catalogue::of(std::move(plugins), {});
}

std::string pipeline(const std::string& nodes, const std::string& losses) {
  return fmt::format(
      "{{\n  \"format\": 1,\n  \"name\": \"many\",\n  \"vars\": {{ \"lr\": 0.1 }},\n  \"nodes\": {{\n"
      "    \"data\": {{ \"use\": \"dataset:digits\" }},\n{}  }},\n"
      "  \"fit\": {{ \"data\": \"load\", \"loss\": {}, \"epochs\": 2 }}\n}}\n",
      nodes, losses);
}

constexpr std::string_view kHead =
    "    \"net\": { \"use\": \"model:cnn\", \"in\": { \"image\": \"batch.image\" }, \"with\": { \"classes\": 10 } },\n"
    "    \"loss\": { \"use\": \"loss:cross_entropy\", \"in\": { \"logits\": \"net.logits\", \"target\": "
    "\"batch.label\" } "
    "},\n"
    "    \"opt\": { \"use\": \"optimizer:adamw\", \"of\": \"net\" }\n";

/// A chain of transforms before the loader.
std::string chain(std::size_t nodes) {
  std::string text;
  std::string before = "data";
  for (std::size_t i = 0; i + 5 < nodes; ++i) {
    text += fmt::format(
        "    \"t{}\": {{ \"use\": \"transform:to_float\", \"in\": \"{}\", \"with\": {{ \"max\": 16 }} }},\n", i,
        before);
    before = fmt::format("t{}", i);
  }
  text += fmt::format(
      "    \"load\": {{ \"use\": \"loader:threads\", \"in\": \"{}\", \"with\": {{ \"batch\": 64 }} }},\n", before);
  return pipeline(text + std::string(kHead), "\"loss\"");
}

/// Models side by side, each with its loss and optimizer; `fault` stands in each model's parameters.
std::string side_by_side(std::size_t nodes, std::string_view fault) {
  std::string text =
      "    \"float\": { \"use\": \"transform:to_float\", \"in\": \"data\", \"with\": { \"max\": 16 } },\n"
      "    \"load\": { \"use\": \"loader:threads\", \"in\": \"float\", \"with\": { \"batch\": 64 } }";
  std::string losses = "{";
  for (std::size_t i = 0; 3 * i + 3 < nodes; ++i) {
    text += fmt::format(
        ",\n    \"net{0}\": {{ \"use\": \"model:cnn\", \"in\": {{ \"image\": \"batch.image\" }}, \"with\": {{ "
        "\"classes\": 10{1} }} }},\n"
        "    \"loss{0}\": {{ \"use\": \"loss:cross_entropy\", \"in\": {{ \"logits\": \"net{0}.logits\", \"target\": "
        "\"batch.label\" }} }},\n"
        "    \"opt{0}\": {{ \"use\": \"optimizer:adamw\", \"of\": \"net{0}\", \"with\": {{ \"lr\": \"${{vars.lr}}\" }} "
        "}}",
        i, fault);
    losses += fmt::format("{}\"loss{}\": 1", i == 0 ? "" : ", ", i);
  }
  return pipeline(text + "\n", losses + "}");
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

struct Shape {
  std::string_view name;
  bool right;
  std::function<std::string(std::size_t)> make;
};

double check(const std::string& text, const Catalogue& catalogue, bool right) {
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    Diagnostics found;
    const Resolved resolved = resolve({"many.json", text, {}, {}}, found);
    const GraphResult result = build_graph(resolved, catalogue, found);
    found.append(result.diagnostics);
    found.sort();
    const std::string shown = render_text(found);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    best = run == 0 ? ms : std::min(best, ms);
    if (found.has_errors() == right) {
      fmt::print("FAILED: {}\n", shown.substr(0, 2000));
      return -1;
    }
  }
  return best;
}

int run() {
  const Catalogue catalogue = installed();
  const std::vector<Shape> shapes{
      {"chain of transforms", true, chain},
      {"models side by side", true, [](std::size_t n) { return side_by_side(n, ""); }},
      {"on one line", true, [](std::size_t n) { return on_one_line(side_by_side(n, "")); }},
      {"an error in each model", false, [](std::size_t n) { return side_by_side(n, ", \"widht\": 3"); }},
      {"such errors on one line", false, [](std::size_t n) { return on_one_line(side_by_side(n, ", \"widht\": 3")); }},
      {"nobody known", false,
       [](std::size_t n) {
         std::string text = side_by_side(n, "");
         for (std::size_t at = text.find("batch.i"); at != std::string::npos; at = text.find("batch.i", at)) {
           text.replace(at, 7, "bunch.i");
         }
         return text;
       }},
      {"a brace missing at the end", false, [](std::size_t n) {
         std::string text = side_by_side(n, "");
         return text.erase(text.rfind("},\n  \"fit\""), 1);
       }}};
  for (const Shape& shape : shapes) {
    double first = 0;
    for (const std::size_t nodes : {500, 1000, 2000, 5000}) {
      const double ms = check(shape.make(nodes), catalogue, shape.right);
      if (ms < 0) return 1;
      if (nodes == 500) first = ms;
      const double ratio = ms / first / (static_cast<double>(nodes) / 500);
      fmt::print("{}: {} nodes in {:.1f} ms, {:.2f} times the time of 500 a node\n", shape.name, nodes, ms, ratio);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tenon::core

int main() { return tenon::core::run(); }
