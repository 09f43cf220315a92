// What a component can be tried with, where its port rules and its parameters' schema do not tell.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tenon/spec.hpp>

namespace tenon {

/// One input for `Example`: a field of a sample, or a tensor of a batch with "N" as its first axis. All axes but "N" are
/// fixed. Floating values are drawn from [low, high), whole numbers from {low, …, high − 1}.
struct ExampleInput {
  FieldSpec field;
  double low = 0;
  double high = 1;
};

/// A file for `Example`.
struct ExampleFile {
  std::string name;     ///< Relative, without "..": "items/a.csv".
  std::string content;  ///< Any bytes.
};

/// Parameters that work, with files and inputs to go with them: an example for people, and for `tenon plugins check` the
/// way to use a component that needs more than its schema says, such as a file to read. A class returns it from
/// `static tenon::Example example()`; it becomes part of the manifest.
struct Example {
  std::string params = "{}";  ///< What a pipeline's `with` would hold, JSON text. Paths count from the files' folder.
  std::vector<ExampleFile> files;    ///< Small: they travel in the plugin.
  std::vector<ExampleInput> inputs;  ///< Empty: found from the port rules.
};

}  // namespace tenon
