// Shape functions of operators for which libtorch's C++ half brings none, so that networks can be tried on the meta
// device.
#pragma once

namespace tenon::engine {

/// Registers them with the dispatcher, once a process. Operators beyond these and libtorch's own make a model's check
/// fall back on a small batch in real memory. [trainer]
void register_meta_kernels();

}  // namespace tenon::engine
