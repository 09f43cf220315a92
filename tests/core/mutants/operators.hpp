// The ways in which a pipeline is spoilt, and what each of them must lead to.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <core/mutants/base.hpp>

namespace tenon::core::testing {

/// What must come of a mutant.
enum class Fate {
  kError,       ///< It is refused, whatever it says.
  kLegalValue,  ///< It may be another legal pipeline: the operator changed a value that its place leaves open.
  kSame,        ///< It is the same pipeline and must be accepted.
};

struct Mutant {
  std::string text;
  std::string what;  ///< For a person who reads of a failure.
  Fate fate = Fate::kError;
  std::vector<std::size_t> lines;  ///< Of `text`, from 1: where an error may stand.
};

using Random = std::mt19937;

/// Makes a mutant of a pipeline, or nothing when the one drawn is no mutant.
using Operator = std::optional<Mutant> (*)(Base& base, Random& random);

struct NamedOperator {
  std::string_view name;
  Operator make;
};

/// Operators on the text: letters, structure, numbers, values, ends.
[[nodiscard]] std::vector<NamedOperator> text_operators();

/// Operators on what the pipeline means: references, nodes, units.
[[nodiscard]] std::vector<NamedOperator> node_operators();

[[nodiscard]] std::size_t draw(std::size_t count, Random& random);

template <typename T>
[[nodiscard]] const T& draw_from(const std::vector<T>& items, Random& random) {
  return items[draw(items.size(), random)];
}

/// The text with [begin, end) replaced; an error may stand on the line of the edit and on the lines of the last text before
/// and the next behind it.
[[nodiscard]] Mutant edited(const Base& base, std::size_t begin, std::size_t end, const std::string& replacement);

/// As `edited` for a token, where an error stands on its own line, or for names that the file itself introduces where they
/// are used.
[[nodiscard]] Mutant respelt(Base& base, const Token& token, const std::string& replacement);

/// Whether a token is the name of a node, a variable or a validation where it is introduced.
[[nodiscard]] bool introduces_name(const Base& base, const Token& token);

}  // namespace tenon::core::testing
