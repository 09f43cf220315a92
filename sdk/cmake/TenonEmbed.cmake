# Texts compiled into a library or program, so that it stands alone.
#
#   tenon_embed(TARGET NAME [BELOW FOLDER] FILE…)
#                                     gives the sources of TARGET <NAME.inc>: for each file, in order, the initialiser
#                                     {"name", "text"}, and a comma; the name is the file's up to its first dot, or its
#                                     path below FOLDER
#
# Written while configuring, which is done anew when a file changes: clang-tidy finds it without a build.
function(tenon_embed target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "BELOW" "")
  set(text "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    if(arg_BELOW)
      file(RELATIVE_PATH stem "${arg_BELOW}" "${file}")
    else()
      get_filename_component(stem "${file}" NAME_WE)
    endif()
    file(READ "${file}" content)
    # Adjacent literals: compilers limit the length of one.
    string(REPLACE "\n" "\n)tenon_text\" R\"tenon_text(" content "${content}")
    string(APPEND text "{\"${stem}\", R\"tenon_text(${content})tenon_text\"},\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_UNPARSED_ARGUMENTS})
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.inc")
  set(before "")
  if(EXISTS "${output}")
    file(READ "${output}" before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE "${output}" "${text}")
  endif()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/embedded")
endfunction()
