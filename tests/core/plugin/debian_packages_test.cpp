// Packages of libraries: what dpkg's lists say, and what policy would call them.
#include <core/plugin/debian_packages.hpp>

#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

TEST(PackageName, FollowsDebiansPolicy) {
  EXPECT_EQ(package_name("libopencv_core.so.406"), "libopencv-core406");
  EXPECT_EQ(package_name("libz.so.1"), "libz1");
  EXPECT_EQ(package_name("libfoo2.so.3"), "libfoo2-3");
  EXPECT_EQ(package_name("libBar.so"), "libbar");
  EXPECT_EQ(package_name("lib.so.1"), "");
  EXPECT_EQ(package_name("plugin.so"), "");
}

TEST(PackagesWith, FindsWholeFileNamesAlone) {
  const TemporaryFolder folder;
  put(folder.path() / "libblas3:amd64.list", "/.\n/usr/lib/x/blas/libblas.so.3\n/usr/lib/x/blas/libblas.so.3.11.0\n");
  put(folder.path() / "libblas3.md5sums", "/usr/lib/x/blas/libblas.so.3\n");
  put(folder.path() / "libother.list", "/usr/lib/x/mylibblas.so.3\n/usr/lib/x/libblas.so.3.gz\n");
  const std::vector<PackagedFile> found = packages_with("libblas.so.3", folder.path());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().package, "libblas3");
  EXPECT_EQ(found.front().path, "/usr/lib/x/blas/libblas.so.3");
  EXPECT_TRUE(packages_with("libblas.so.3", folder.path() / "missing").empty());
}

}  // namespace
}  // namespace tenon::core
