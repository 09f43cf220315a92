// How many files this process may open at a time.
#pragma once

namespace tenon::host {

/// Raises the limit of open files where it is low, as far as its hard limit allows: looking through the libraries that
/// plugins need takes one file each, all at a time. Child processes have the limit too.
void raise_open_files() noexcept;

}  // namespace tenon::host
