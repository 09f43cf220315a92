# Compiles sdk/templates/pipelines/*.jsonc into a target as host::templates(), so that the program stands alone. Also the
# script that writes the generated file.
#
#   include(embed_templates.cmake)
#   tenon_embed_templates(tenon)

if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DOUTPUT=<file.cpp> -DTEMPLATES=<file>[,<file>…] -P embed_templates.cmake
  string(REPLACE "," ";" templates "${TEMPLATES}")
  set(text "// Generated from sdk/templates/pipelines/*.jsonc.\n#include <host/templates.hpp>\n\n")
  string(APPEND text "namespace tenon::host {\n\nstd::span<const Template> templates() noexcept {\n")
  string(APPEND text "  static constexpr Template kTemplates[]{\n")
  foreach(template IN LISTS templates)
    get_filename_component(name "${template}" NAME_WE)
    file(READ "${template}" content)
    # Adjacent literals: compilers limit the length of one.
    string(REPLACE "\n" "\n)tenon_jsonc\" R\"tenon_jsonc(" content "${content}")
    string(APPEND text "      {\"${name}\", R\"tenon_jsonc(${content})tenon_jsonc\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kTemplates;\n}\n\n}  // namespace tenon::host\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(TENON_EMBED_TEMPLATES_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(tenon_embed_templates target)
  file(GLOB templates CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/sdk/templates/pipelines/*.jsonc")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/templates.cpp")
  list(JOIN templates "," joined)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DTEMPLATES=${joined}" -P "${TENON_EMBED_TEMPLATES_SCRIPT}"
    DEPENDS ${templates} "${TENON_EMBED_TEMPLATES_SCRIPT}"
    COMMENT "Embedding templates"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
