// Builds graphs from texts over components that exist only as manifests.
#include <core/graph/fixture.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <core/text/render.hpp>

namespace tenon::core::testing {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(TENON_SOURCE_DIR) / "tests/core/graph/manifests")) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<PluginInfo> plugins;
    std::transform(files.begin(), files.end(), std::back_inserter(plugins), [](const std::filesystem::path& file) {
      const std::string text = read_text(file);
      return parse_manifest(std::string_view{text});
    });
    RefusedPlugin refused;
    refused.path = "/opt/tenon/focal.so";
    refused.reason = "fingerprint";
    refused.message = "it was built for another libtorch";
    refused.id = "org.example.focal";
    refused.components = {"loss:focal"};
    return Catalogue::of(std::move(plugins), {std::move(refused)});
  }();
  return all;
}

std::string demo_text() {
  return read_text(std::filesystem::path(TENON_SOURCE_DIR) / "sdk/examples/pipelines/digits.json");
}

std::string language_text() {
  const std::filesystem::path folder = std::filesystem::path(TENON_SOURCE_DIR) / "tests/pipelines/good";
  return replaced(read_text(folder / "whole-language.json"), "teacher.safetensors",
                  (folder / "teacher.safetensors").string());
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from << " stands in more than one place";
  return at == std::string::npos ? text : text.substr(0, at) + to + text.substr(at + from.size());
}

std::string Built::text() const { return render_text(diagnostics); }

Built build(const ResolveRequest& request) {
  Built built;
  const Resolved merged = resolve(request, built.diagnostics);
  GraphResult result = build_graph(merged, catalogue(), built.diagnostics);
  built.resolved = std::move(result.resolved);
  built.graph = std::move(result.graph);
  built.diagnostics.append(result.diagnostics);
  built.diagnostics.sort();
  return built;
}

Built build(const std::string& text) {
  ResolveRequest request;
  request.pipeline = "pipe.json";
  request.text = text;
  return build(request);
}

}  // namespace tenon::core::testing
