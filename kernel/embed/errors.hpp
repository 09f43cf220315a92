// From what core and engine throw and find to the one error that leaves this library.
#pragma once

#include <string_view>
#include <vector>

#include <core/text/diagnostic.hpp>
#include <tenon/kernel/error.hpp>

namespace tenon::kernel {

[[nodiscard]] std::vector<Diagnostic> told(const core::Diagnostics& findings);

/// \throws Error with all of them where there is an error among them. `outcome` ends the closing line.
void require_no_error(const core::Diagnostics& findings, std::string_view outcome);

/// The exception in flight as an Error. Called in a handler.
[[noreturn]] void rethrow_as_error();

/// Lets nothing but Error through.
template <class Body>
decltype(auto) guarded(Body&& body) {
  try {
    return body();
  } catch (...) {
    rethrow_as_error();
  }
}

}  // namespace tenon::kernel
