// Builds graphs from texts over components that exist only as manifests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <core/graph/build.hpp>

namespace tenon::core::testing {

/// The components of tests/core/graph/manifests, and a refused plugin that would bring loss:focal.
[[nodiscard]] const Catalogue& catalogue();

/// The repository's file as text.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// The demo pipeline.
[[nodiscard]] std::string demo_text();

/// A pipeline of all that the demo does not say: tests/pipelines/good/whole-language.json, wherever it is resolved.
[[nodiscard]] std::string language_text();

/// The text with the one place where `from` stands replaced; the test fails when it does not stand there exactly once.
[[nodiscard]] std::string replaced(const std::string& text, const std::string& from, const std::string& to);

struct Built {
  Resolved resolved;
  std::optional<Graph> graph;
  Diagnostics diagnostics;  ///< Of both stages, by place.

  /// All findings as people read them.
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] Built build(const ResolveRequest& request);
[[nodiscard]] Built build(const std::string& text);

/// The facts of a graph as JSON, for expectations: see graph_json.cpp for the members.
[[nodiscard]] Json graph_json(const Graph& graph);

}  // namespace tenon::core::testing
