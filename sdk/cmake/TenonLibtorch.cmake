# Finds libtorch and makes the target Tenon::torch over its torch_cpu and c10 alone.
#
# libtorch's own CMake package insists on an installed CUDA toolkit and links libtorch_cuda; Tenon opens that half at
# run time, where there is a GPU.
include_guard(GLOBAL)

set(TENON_LIBTORCH_RELEASE 2.11)

# Reads the version ("2.11.0", or "unknown") and the major CUDA version ("13", or "none") of the libtorch in a folder.
function(tenon_libtorch_version folder version_result cuda_result)
  set(line unknown)
  foreach(file version.py build-version)  # of a Python package, of an unpacked archive
    if(EXISTS ${folder}/${file})
      file(STRINGS ${folder}/${file} line REGEX "(^|__version__ = ')[0-9]+\\.[0-9]+\\.[0-9]+" LIMIT_COUNT 1)
      break()
    endif()
  endforeach()
  set(version unknown)
  set(cuda none)
  if(line MATCHES "([0-9]+\\.[0-9]+\\.[0-9]+)([^']*)")
    set(version ${CMAKE_MATCH_1})
    if(CMAKE_MATCH_2 MATCHES "\\+cu([0-9]+)[0-9]$")
      set(cuda ${CMAKE_MATCH_1})
    endif()
  endif()
  set(${version_result} ${version} PARENT_SCOPE)
  set(${cuda_result} ${cuda} PARENT_SCOPE)
endfunction()

# Sets TENON_LIBTORCH (a folder with lib/libtorch_cpu.so and include/), TENON_LIBTORCH_NUMBER ("2.11.0") and
# TENON_LIBTORCH_CUDA ("13", or "none"), and makes the target. It looks, in this order, at
# the variable, the environment variable of that name, each argument, and where `./dev` installs.
function(tenon_find_libtorch)
  if(TARGET Tenon::torch)
    return()
  endif()
  set(cache $ENV{TENON_CACHE})
  if(NOT cache)
    set(cache $ENV{HOME}/.cache/tenon)
  endif()
  file(GLOB installed ${cache}/libtorch-${TENON_LIBTORCH_RELEASE}.*/lib/python3*/site-packages/torch)
  set(found "")
  if(TENON_LIBTORCH)
    set(candidates ${TENON_LIBTORCH})
  elseif(DEFINED ENV{TENON_LIBTORCH} AND NOT "$ENV{TENON_LIBTORCH}" STREQUAL "")
    set(candidates $ENV{TENON_LIBTORCH})
  else()
    set(candidates ${ARGN} ${installed})
  endif()
  foreach(candidate IN LISTS candidates)
    if(EXISTS ${candidate}/lib/libtorch_cpu.so AND EXISTS ${candidate}/include/ATen/ATen.h)
      set(found ${candidate})
      break()
    endif()
  endforeach()
  if(NOT found)
    list(JOIN candidates ", " looked)
    message(FATAL_ERROR
      "libtorch ${TENON_LIBTORCH_RELEASE} was not found (looked at: ${looked}).\n"
      "Run ./dev build, which installs it, or set TENON_LIBTORCH to a folder with lib/libtorch_cpu.so and include/.")
  endif()

  tenon_libtorch_version(${found} version cuda)
  if(NOT version MATCHES "^${TENON_LIBTORCH_RELEASE}(\\.|$)")
    message(FATAL_ERROR
      "Tenon needs libtorch ${TENON_LIBTORCH_RELEASE}, since its C++ interface changes with every release, but\n"
      "  ${found}\nis libtorch ${version}. Set TENON_LIBTORCH to a libtorch ${TENON_LIBTORCH_RELEASE}.")
  endif()

  foreach(library c10 torch_cpu)
    add_library(Tenon::libtorch_${library} SHARED IMPORTED GLOBAL)
    set_target_properties(Tenon::libtorch_${library} PROPERTIES
      IMPORTED_LOCATION ${found}/lib/lib${library}.so IMPORTED_SONAME lib${library}.so)
  endforeach()
  add_library(Tenon::torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(Tenon::torch SYSTEM INTERFACE ${found}/include ${found}/include/torch/csrc/api/include)
  target_compile_definitions(Tenon::torch INTERFACE
    TENON_LIBTORCH_VERSION="${version}" TENON_CUDA_MAJOR="${cuda}")
  target_link_libraries(Tenon::torch INTERFACE Tenon::libtorch_torch_cpu Tenon::libtorch_c10)
  set(TENON_LIBTORCH ${found} PARENT_SCOPE)
  set(TENON_LIBTORCH_NUMBER ${version} PARENT_SCOPE)
  set(TENON_LIBTORCH_CUDA ${cuda} PARENT_SCOPE)
  if(NOT Tenon_FIND_QUIETLY)
    message(STATUS "libtorch ${version}, CUDA ${cuda}: ${found}")
  endif()
endfunction()
