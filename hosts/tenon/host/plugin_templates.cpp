// The templates, of which the build makes plugin_templates.inc, and the words in them that a new plugin replaces.
#include <host/plugin_templates.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/interfaces.hpp>

namespace tenon::host {
namespace {

struct Embedded {
  std::string_view path;  ///< "transform/my_transform.cpp"
  std::string_view text;
};

std::span<const Embedded> embedded() noexcept {
  static constexpr Embedded kFiles[]{
#include <plugin_templates.inc>
  };
  return kFiles;
}

constexpr std::string_view kPart = "README.part.md";

/// Kinds whose headers reach no libtorch.
constexpr std::array<std::string_view, 4> kWithoutLibtorch{"dataset", "transform", "schedule", "observer"};

std::string_view text_of(const std::string& path) noexcept {
  for (const Embedded& each : embedded()) {
    if (each.path == path) return each.text;
  }
  return {};
}

/// Files of a folder, without those of folders below it; paths count from there.
std::vector<Embedded> files_in(const std::string& folder) {
  std::vector<Embedded> files;
  for (const Embedded& each : embedded()) {
    if (!each.path.starts_with(folder + "/")) continue;
    const std::string_view rest = each.path.substr(folder.size() + 1);
    if (rest.find('/') == std::string_view::npos) files.push_back({rest, each.text});
  }
  return files;
}

/// "random_crop" as RandomCrop.
std::string camel_case(std::string_view name) {
  std::string out;
  bool start = true;
  for (const char c : name) {
    if (c != '_') out += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    start = c == '_';
  }
  return out;
}

using Words = std::vector<std::pair<std::string, std::string>>;

/// Each of the words by its counterpart, from left to right; of several at one place the first in the list counts.
std::string replaced(std::string_view text, const Words& words) {
  std::string out;
  while (!text.empty()) {
    const auto found = std::ranges::find_if(words, [&](const auto& word) { return text.starts_with(word.first); });
    if (found == words.end()) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += found->second;
      text.remove_prefix(found->first.size());
    }
  }
  return out;
}

Words words_of(const NewPlugin& plugin, std::string_view part) {
  const bool torch = std::ranges::find(kWithoutLibtorch, plugin.kind) == kWithoutLibtorch.end();
  Words words;
  for (const std::string& kind : {plugin.kind, std::string("kind")}) {
    const std::string name = fmt::format("my_{}", kind);
    words.emplace_back("org.example." + name, plugin.id);
    words.emplace_back(name, plugin.name);
    words.emplace_back(camel_case(name), camel_case(plugin.name));
  }
  if (part.ends_with('\n')) part.remove_suffix(1);
  words.emplace_back("@PART@", replaced(part, words));
  words.emplace_back("@KIND@", plugin.kind);
  words.emplace_back("@TORCH@", torch ? " TORCH" : "");
  words.emplace_back("@CUDA@\n", plugin.cuda ? "tenon_enable_cuda()\n" : "");
  return words;
}

// C++20, [lex.key] and alternative tokens: as names of functions and namespaces they would not compile.
constexpr std::array<std::string_view, 92> kKeywords{
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

// Targets that CMake makes itself, libraries that are linked by these names, and namespaces and macros of others.
constexpr std::array<std::string_view, 25> kTaken{"all",
                                                  "clean",
                                                  "depend",
                                                  "edit_cache",
                                                  "help",
                                                  "install",
                                                  "list_install_components",
                                                  "package",
                                                  "package_source",
                                                  "preinstall",
                                                  "rebuild_cache",
                                                  "test",
                                                  "c",
                                                  "dl",
                                                  "m",
                                                  "pthread",
                                                  "rt",
                                                  "at",
                                                  "c10",
                                                  "linux",
                                                  "std",
                                                  "tenon",
                                                  "tenon_pch",
                                                  "torch",
                                                  "unix"};

constexpr std::size_t kLongestName = 60;

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The nearest name in lower case with single underscores: "RandomCrop" and "random-crop" as random_crop. May be empty.
std::string snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_lower(c) && !is_upper(c) && !is_digit(c)) {
      if (!out.empty() && out.back() != '_') out += '_';
      continue;
    }
    const bool word = is_upper(c) && i > 0 && (is_lower(name[i - 1]) || is_digit(name[i - 1]));
    if (word && !out.empty()) out += '_';
    if (!out.empty() || !is_digit(c)) out += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

}  // namespace

std::vector<PluginKind> plugin_kinds() {
  std::vector<PluginKind> kinds;
  for (const core::InterfaceInfo& each : core::interfaces()) {
    std::string_view summary = text_of(fmt::format("{}/{}", each.kind, kPart));
    if (summary.empty()) continue;
    summary = summary.substr(0, summary.find_first_of(".:\n"));
    kinds.push_back({each.kind, summary, !text_of(fmt::format("{}/cuda/{}", each.kind, kPart)).empty()});
  }
  return kinds;
}

std::vector<PluginFile> files_of(const NewPlugin& plugin) {
  const std::string folder = plugin.kind + (plugin.cuda ? "/cuda" : "");
  const Words words = words_of(plugin, text_of(fmt::format("{}/{}", folder, kPart)));
  std::vector<PluginFile> files;
  for (const std::string& source : {std::string("common"), folder}) {
    for (const Embedded& each : files_in(source)) {
      if (each.path == kPart) continue;
      files.push_back({replaced(each.path, words), replaced(each.text, words)});
    }
  }
  std::ranges::sort(files, {}, &PluginFile::path);
  return files;
}

std::string fault_of_plugin_name(const std::string& name) {
  if (name != snake_case(name) || name.empty()) {
    const std::string near = snake_case(name);
    return fmt::format(
        "a name begins with a lower-case letter and has lower-case letters, digits and single underscores{}",
        near.empty() || !fault_of_plugin_name(near).empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
  }
  if (name.size() > kLongestName) {
    return fmt::format("a name has at most {} characters, and this one has {}", kLongestName, name.size());
  }
  if (std::ranges::find(kKeywords, name) != kKeywords.end()) {
    return "C++ has a keyword of that name; choose another one, of two words perhaps";
  }
  if (std::ranges::find(kTaken, name) != kTaken.end()) {
    return "compiler or build system take that name for something else; choose another one, of two words perhaps";
  }
  if (name.ends_with("_test")) return "a source file whose name ends in _test counts as a test; choose another ending";
  return {};
}

}  // namespace tenon::host
