# The parts of OpenCV that plugins over images use. Debian's packages of single parts bring no CMake package.
include_guard(GLOBAL)

find_path(TENON_OPENCV_INCLUDE opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
foreach(part core imgproc imgcodecs)
  find_library(TENON_OPENCV_${part} opencv_${part} REQUIRED)
  add_library(TenonOpenCV::${part} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(TenonOpenCV::${part} PROPERTIES
    IMPORTED_LOCATION ${TENON_OPENCV_${part}} INTERFACE_INCLUDE_DIRECTORIES ${TENON_OPENCV_INCLUDE})
endforeach()
