// The entry of all bad plugins whose entry is good.
#include <tenon/registration.hpp>

TENON_PLUGIN_ENTRY("org.tenon.tests.bad", "1.0.0", "Apache-2.0", "")
