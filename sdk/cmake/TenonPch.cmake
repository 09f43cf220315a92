# One precompiled header over ATen for all targets of a build that use it: it costs some 17 s and 414 MB, and saves 6 s a
# file. Every target must be compiled with the flags of the folder in which tenon_torch_pch() is called.
include_guard(GLOBAL)

set(TENON_PCH_HEADER ${CMAKE_CURRENT_LIST_DIR}/tenon_pch.hpp)

# Makes the header. Called once, at the top of a project, before the targets that use it.
function(tenon_torch_pch)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/tenon_pch.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(tenon_pch OBJECT ${source})
  target_compile_features(tenon_pch PRIVATE cxx_std_20)
  set_target_properties(tenon_pch PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(tenon_pch PRIVATE Tenon::torch)
  target_precompile_headers(tenon_pch PRIVATE ${TENON_PCH_HEADER})
endfunction()

# Lets a target use the header, where there is one.
function(tenon_use_torch_pch target)
  if(TARGET tenon_pch)
    target_precompile_headers(${target} REUSE_FROM tenon_pch)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # Without it ccache does not cache a file that uses a precompiled header.
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    endif()
  endif()
endfunction()
