// Beside libtenon_core, as the engine.
#include <host/sheet_library.hpp>

#include <dlfcn.h>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <core/plugin/open_library.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/search_path.hpp>

namespace tenon::host {

sheet::Painter& open_painter() {
  const std::filesystem::path file = core::install_library_folder() / sheet::kLibrary;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    throw core::Refusal("no-sheet",
                        fmt::format("{} is not there: this Tenon was built or installed without the part that "
                                    "draws",
                                    file.string()));
  }
  void* const library = core::open_library(file);
  auto* const function = reinterpret_cast<sheet::PainterFunction*>(::dlsym(library, sheet::kPainterSymbol));
  sheet::Painter* const painter = function == nullptr ? nullptr : function();
  if (painter == nullptr) {
    throw core::Refusal("no-sheet",
                        fmt::format("{} cannot draw: it is of another version than this program", file.string()));
  }
  return *painter;
}

}  // namespace tenon::host
