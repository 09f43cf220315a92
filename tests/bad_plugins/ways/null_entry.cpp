// An entry that says nothing.
extern "C" [[gnu::visibility("default")]] const void* tenon_plugin_1() noexcept { return nullptr; }
