# tenon_add_plugin(): a folder of components becomes one plugin file that describes itself.
include_guard(GLOBAL)

set(TENON_CMAKE_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
find_program(TENON_OBJCOPY NAMES objcopy llvm-objcopy REQUIRED)

# tenon_add_plugin(<name> ID <reverse domain name> VERSION <x.y.z> [LICENCE <SPDX name>] [TORCH]
#                  [NAMESPACES <torch operator namespace>...] [ALLOW <function>...] [DIRECTORY <folder>])
#
# Takes the sources (.cpp, .cu, .S) of the current folder and those below it, apart from *_test.cpp and *_test.cu. Those
# for CUDA need tenon_enable_cuda() before, and bring CUDA's runtime with them. A .S file may take in (.incbin) any file
# of its own folder by name. TORCH: a plugin over ATen. NAMESPACES: those that it registers.
# LICENCE is Apache-2.0 unless given. ALLOW: functions that change the whole process, such as setenv, and that it must
# call all the same; without it, a plugin that calls one does not build. DIRECTORY: where the file comes to lie; without
# it, lib/tenon/plugins of Tenon's own build, and the current binary folder elsewhere.
#
# Makes the targets <name>_raw, what the linker makes, and <name>, the plugin, whose manifest lies in the section
# .tenon.manifest: <name>_raw -> tenon-describe -> <name>.json -> objcopy -> <name>.so.
function(tenon_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "ID;VERSION;LICENCE;DIRECTORY" "NAMESPACES;ALLOW")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_plugin(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed ID VERSION)
    if(NOT arg_${needed})
      message(FATAL_ERROR "tenon_add_plugin(${name}): ${needed} is missing")
    endif()
  endforeach()
  if(NOT arg_ID MATCHES "^[a-z][a-z0-9_-]*(\\.[a-z0-9_-]+)+$")
    message(FATAL_ERROR "tenon_add_plugin(${name}): ID ${arg_ID} is no reverse domain name such as org.example.cutout")
  endif()
  if(NOT arg_VERSION MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+$")
    message(FATAL_ERROR "tenon_add_plugin(${name}): VERSION ${arg_VERSION} is not of the form 1.0.0")
  endif()
  if(NOT arg_LICENCE)
    set(arg_LICENCE Apache-2.0)
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.cu
    ${CMAKE_CURRENT_SOURCE_DIR}/*.S)
  list(FILTER sources EXCLUDE REGEX "(_test\\.(cpp|cu)$|/CMakeFiles/)")  # build folders may lie inside the plugin's own
  if(NOT sources)
    message(FATAL_ERROR "tenon_add_plugin(${name}): ${CMAKE_CURRENT_SOURCE_DIR} holds no .cpp file")
  endif()
  set(cuda_sources ${sources})
  list(FILTER cuda_sources INCLUDE REGEX "\\.cu$")
  if(cuda_sources)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "CUDA" IN_LIST languages)
      message(FATAL_ERROR "tenon_add_plugin(${name}): there are .cu files: call tenon_enable_cuda() before")
    endif()
    # Calls of CUDA's runtime, which is linked in: libtorch's own is known to plugins over ATen alone.
    list(APPEND arg_ALLOW dlclose setenv)
  endif()
  list(JOIN arg_NAMESPACES " " namespaces)
  set(entry ${CMAKE_CURRENT_BINARY_DIR}/${name}_entry.cxx)  # .cpp would be taken for one of the folder's sources
  file(CONFIGURE OUTPUT ${entry} @ONLY CONTENT [[
// Made by tenon_add_plugin().
#include <tenon/registration.hpp>

TENON_PLUGIN_ENTRY("@arg_ID@", "@arg_VERSION@", "@arg_LICENCE@", "@namespaces@")
]])

  set_source_files_properties(${entry} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # it uses none, and reading it takes seconds
  set(raw ${name}_raw)
  add_library(${raw} MODULE ${sources} ${entry})
  target_compile_features(${raw} PRIVATE cxx_std_20)
  target_compile_options(${raw} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections> $<$<COMPILE_LANGUAGE:CXX>:-fdata-sections>)
  if(cuda_sources)
    if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
      target_compile_features(${raw} PRIVATE cuda_std_20)
    else()  # CMake before 3.26 does not know that nvcc has it
      target_compile_options(${raw} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    endif()
    set_target_properties(${raw} PROPERTIES
      CUDA_VISIBILITY_PRESET hidden CUDA_EXTENSIONS OFF CUDA_RUNTIME_LIBRARY Static)
  endif()
  target_include_directories(${raw} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${raw} PRIVATE Tenon::api)
  if(arg_TORCH)
    target_link_libraries(${raw} PRIVATE Tenon::nn Tenon::torch)
    tenon_use_torch_pch(${raw})
  endif()
  set_target_properties(${raw} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX .so DEFINE_SYMBOL "" CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/raw BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH ""
    LINK_DEPENDS ${TENON_CMAKE_DIRECTORY}/plugin.map)
  target_link_options(${raw} PRIVATE
    -Wl,--version-script=${TENON_CMAKE_DIRECTORY}/plugin.map -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,nodelete
    -Wl,--gc-sections -Wl,--build-id=sha1)
  tenon_watch_embedded_files("${sources}")

  if(NOT arg_DIRECTORY)
    include(GNUInstallDirs)
    set(arg_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    if(TENON_PLUGIN_DIRECTORY)
      set(arg_DIRECTORY ${TENON_PLUGIN_DIRECTORY})
    endif()
    install(PROGRAMS ${arg_DIRECTORY}/${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/tenon/plugins)
  endif()
  set(manifest ${CMAKE_CURRENT_BINARY_DIR}/${name}.json)
  set(staged ${arg_DIRECTORY}/${name}.so)
  tenon_describe_environment(environment)
  add_custom_command(OUTPUT ${manifest}
    COMMAND ${CMAKE_COMMAND} -E env ${environment} $<TARGET_FILE:Tenon::describe> $<TARGET_FILE:${raw}> ${manifest}
      ${arg_ALLOW}
    DEPENDS ${raw} Tenon::describe Tenon::api VERBATIM
    COMMENT "Describing ${name}")
  add_custom_command(OUTPUT ${staged}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_DIRECTORY}
    COMMAND ${TENON_OBJCOPY} --add-section .tenon.manifest=${manifest} $<TARGET_FILE:${raw}> ${staged}.part
    COMMAND ${CMAKE_COMMAND} -E rename ${staged}.part ${staged}
    DEPENDS ${raw} ${manifest} VERBATIM
    COMMENT "Staging ${name}.so")
  add_custom_target(${name} ALL DEPENDS ${staged})
  set_target_properties(${name} PROPERTIES TENON_PLUGIN_FILE ${staged})
endfunction()

# tenon_enable_cuda(): the language CUDA, for .cu files, with CUDACXX, the nvcc on the PATH, or that of a toolkit in its
# usual place. Called where project() is. Unless CMAKE_CUDA_ARCHITECTURES says otherwise, nvcc decides for which GPUs it
# compiles; newer ones then run the same code, compiled anew by their driver.
macro(tenon_enable_cuda)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(TENON_NVCC nvcc PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
    if(NOT TENON_NVCC)
      message(FATAL_ERROR "${PROJECT_NAME} has sources for CUDA, but its compiler nvcc was not found: install NVIDIA's "
        "CUDA toolkit, or set the environment variable CUDACXX to the path of nvcc.")
    endif()
    set(CMAKE_CUDA_COMPILER ${TENON_NVCC})
  endif()
  enable_language(CUDA)
endmacro()

# The compiler's list of dependencies does not know what a .S file embeds: any other file of its folder counts.
function(tenon_watch_embedded_files sources)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.S$")
      cmake_path(GET source PARENT_PATH folder)
      file(GLOB embedded CONFIGURE_DEPENDS ${folder}/*)
      list(FILTER embedded EXCLUDE REGEX "(\\.[ch]pp|\\.S|CMakeLists\\.txt)$")
      set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${embedded}")
      set_property(SOURCE ${source} APPEND PROPERTY INCLUDE_DIRECTORIES ${folder})
    endif()
  endforeach()
endfunction()

# What tenon-describe needs to open a plugin of this build: our libraries, libtorch, and the runtime of a sanitizer that
# the tool itself may not be built with.
function(tenon_describe_environment result)
  set(environment ASAN_OPTIONS=detect_leaks=0
    LD_LIBRARY_PATH=$<TARGET_FILE_DIR:Tenon::api>:$<TARGET_FILE_DIR:Tenon::libtorch_torch_cpu>)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-fsanitize=[a-z,]*address")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE runtime
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_ABSOLUTE "${runtime}")
      list(APPEND environment LD_PRELOAD=${runtime})
    endif()
  endif()
  set(${result} ${environment} PARENT_SCOPE)
endfunction()
