# How our own code is compiled, linked and laid out; a third party's plugin takes none of this.
include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree is laid out as an installed one, so that both are found and opened in the same way.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")

# One set of flags for all targets, programs too: gcc refuses a precompiled header that was made with others.
# (For a program POSITION_INDEPENDENT_CODE would mean -fPIE.)
add_compile_options(-fPIC $<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections> $<$<COMPILE_LANGUAGE:CXX>:-fdata-sections>)
foreach(warning all extra pedantic shadow conversion error)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-W${warning}>)
endforeach()

# The runtimes of clang's sanitizers lie in the program alone, so that our libraries leave their symbols open.
option(TENON_FUZZ "Build with clang for libFuzzer (tests/fuzz), AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(TENON_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "TENON_FUZZ needs clang, not ${CMAKE_CXX_COMPILER_ID}: cmake --preset fuzz")
  endif()
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
  # Templates that our libraries and unoptimised tests both hold: the libraries keep to their own.
  add_link_options(-fsanitize=address,undefined -Wl,-Bsymbolic-functions)
else()
  add_link_options(-Wl,-z,defs)
endif()

# Memory bounds the number of compilers: one over ATen takes up to 1.5 GB.
cmake_host_system_information(RESULT tenon_cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT tenon_memory QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR tenon_jobs "${tenon_memory} / 1700")
if(tenon_jobs GREATER tenon_cores)
  set(tenon_jobs ${tenon_cores})
elseif(tenon_jobs LESS 1)
  set(tenon_jobs 1)
endif()
set_property(GLOBAL PROPERTY JOB_POOLS compile=${tenon_jobs})
set(CMAKE_JOB_POOL_COMPILE compile)

find_program(TENON_CCACHE_PROGRAM ccache)
if(TENON_CCACHE AND TENON_CCACHE_PROGRAM)
  # The settings that precompiled headers need; paths below the source tree count as relative, so that clones share.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${TENON_CCACHE_PROGRAM})
endif()

find_program(TENON_MOLD_PROGRAM mold)
if(TENON_MOLD AND TENON_MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# tenon_header_pch(<name> <header> [OPTIONS <option>...] LIBRARIES <library>...)
# One precompiled header for targets that are compiled with the same options and definitions as these libraries bring.
function(tenon_header_pch name header)
  if(NOT TENON_PCH)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS;LIBRARIES")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(${name} OBJECT ${source})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${header})
endfunction()

# Lets a target use one of these headers, where there is one.
function(tenon_use_header_pch target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
    endif()
  endif()
endfunction()
