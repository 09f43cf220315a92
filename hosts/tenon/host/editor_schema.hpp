// JSON Schemas for editors: what a pipeline may hold with the components that are installed.
#pragma once

#include <core/json/json.hpp>
#include <core/plugin/catalogue.hpp>

namespace tenon::host {

/// Which files a schema is for.
enum class FileForm {
  kWhole,    ///< A pipeline. One with `extends` is taken as kPartial.
  kPartial,  ///< An overlay: nothing is required, and null deletes a member.
};

/// Draft 7 schema of pipeline files: each `use` is one of the catalogue's components, and `with` is checked by that
/// component's own parameters. Wherever a value may be one, "${vars.name}" is taken too. Quantities are patterns, and
/// descriptions hold type and default for people to read. It never refuses what the kernel takes; what only a whole
/// graph can tell (references, shapes) it does not know.
[[nodiscard]] core::Json editor_schema(const core::Catalogue& catalogue, FileForm form);

/// Likewise of one component's `with` alone.
[[nodiscard]] core::Json editor_schema(const core::Catalogue& catalogue, const core::ComponentInfo& component);

}  // namespace tenon::host
