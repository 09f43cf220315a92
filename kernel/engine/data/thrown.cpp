// Exceptions of any type as text.
#include <engine/data/thrown.hpp>

#include <cxxabi.h>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <typeinfo>

#include <fmt/format.h>

namespace tenon::engine {

std::string thrown_text() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (type == nullptr) {
      return "a foreign exception";
    }
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr),
                                                           std::free);
    return fmt::format("an exception of type {}", name ? name.get() : type->name());
  }
}

}  // namespace tenon::engine
