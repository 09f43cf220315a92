// The `tenon` program.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <core/process/parent.hpp>
#include <host/console.hpp>
#include <host/open_files.hpp>
#include <host/program.hpp>

int main(int argc, char** argv) {
  tenon::core::end_with_parent();
  tenon::host::raise_open_files();
  tenon::host::Console console;
  const int code = tenon::host::run_program(std::vector<std::string>(argv, argv + argc), console);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Results are flushed. Libraries of plugins and libtorch stay mapped and their destructors at exit are not run: their
  // order is nobody's.
  std::fflush(stderr);
  std::_Exit(code);
#else
  return code;
#endif
}
