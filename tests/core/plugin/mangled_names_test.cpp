// Mangled names, read and made readable.
#include <core/plugin/mangled_names.hpp>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(OuterNamespaces, AreReadFromMangledNames) {
  EXPECT_EQ(outer_namespaces("_ZN2at7nowhereEi"), "at");
  EXPECT_EQ(outer_namespaces("_ZNK5tenon2nn6Module7forwardEv"), "tenon::nn::Module");
  EXPECT_EQ(outer_namespaces("_ZTIN2cv9ExceptionE"), "cv");
  EXPECT_EQ(outer_namespaces("_Z4freev"), "");
  EXPECT_EQ(outer_namespaces("printf"), "");
  EXPECT_EQ(outer_namespaces("_ZN99999999999999999999999"), "");
}

TEST(Demangled, LeavesPlainNamesAlone) {
  EXPECT_EQ(demangled("f"), "f");
  EXPECT_EQ(demangled("_ZN2at7nowhereEi"), "at::nowhere(int)");
}

}  // namespace
}  // namespace tenon::core
