# Compiles schemas/pipeline-*.schema.json, those that files are checked against at run time, into a target as
# core::embedded_schema. Also the script that writes the generated file.
#
#   include(${PROJECT_SOURCE_DIR}/kernel/core/schema/embed.cmake)
#   tenon_embed_schemas(tenon_core)

if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DOUTPUT=<file.cpp> -DSCHEMAS=<file>[,<file>…] -P embed.cmake
  string(REPLACE "," ";" schemas "${SCHEMAS}")
  set(text "// Generated from schemas/pipeline-*.schema.json.\n#include <core/schema/embedded.hpp>\n\n")
  string(APPEND text "namespace tenon::core {\n\nstd::string_view embedded_schema(std::string_view name) noexcept {\n")
  foreach(schema IN LISTS schemas)
    get_filename_component(name "${schema}" NAME)
    string(REGEX REPLACE "\\.schema\\.json$" "" name "${name}")
    file(READ "${schema}" content)
    # Adjacent literals: compilers limit the length of one.
    string(REPLACE "\n" "\n)tenon_json\" R\"tenon_json(" content "${content}")
    string(APPEND text "  if (name == \"${name}\") return R\"tenon_json(${content})tenon_json\";\n")
  endforeach()
  string(APPEND text "  return {};\n}\n\n}  // namespace tenon::core\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(TENON_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(tenon_embed_schemas target)
  file(GLOB schemas CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/schemas/pipeline-*.schema.json")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_schemas.cpp")
  list(JOIN schemas "," joined)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DSCHEMAS=${joined}" -P "${TENON_EMBED_SCRIPT}"
    DEPENDS ${schemas} "${TENON_EMBED_SCRIPT}"
    COMMENT "Embedding schemas"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
