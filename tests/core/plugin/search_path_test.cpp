// Where plugins are looked for, and whom they may belong to.
#include <core/plugin/search_path.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/plugin/refusal.hpp>
#include <core/storage/temporary_folder.hpp>

namespace tenon::core {
namespace {

/// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class SearchPathTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Variable home_{"HOME", folder_ / "home"};
  Variable data_{"XDG_DATA_HOME", ""};
  Variable path_{"TENON_PLUGIN_PATH", ""};
};

using Folders = std::vector<std::pair<std::filesystem::path, FolderOrigin>>;

Folders folders_of(const SearchPath& path) {
  Folders folders;
  for (const SearchFolder& folder : path.folders) {
    folders.emplace_back(folder.path, folder.origin);
  }
  return folders;
}

TEST_F(SearchPathTest, goes_from_arguments_over_the_environment_to_the_install) {
  for (const char* name : {"a", "b", "c", "d"}) {
    std::filesystem::create_directory(folder_ / name);
  }
  const Variable variable("TENON_PLUGIN_PATH", (folder_ / "c").string() + ":" + (folder_ / "d").string());
  const SearchPath path = SearchPath::standard({{folder_ / "b", folder_ / "a"}, {}});
  EXPECT_EQ(folders_of(path), (Folders{{folder_ / "b", FolderOrigin::kArgument},
                                       {folder_ / "a", FolderOrigin::kArgument},
                                       {folder_ / "c", FolderOrigin::kEnvironment},
                                       {folder_ / "d", FolderOrigin::kEnvironment},
                                       {folder_ / "home/.local/share/tenon/plugins", FolderOrigin::kUser},
                                       {install_library_folder() / "tenon/plugins", FolderOrigin::kInstall}}));
}

TEST_F(SearchPathTest, never_takes_the_current_directory_from_the_environment) {
  const Variable variable("TENON_PLUGIN_PATH", ":.:relative::" + (folder_ / "none").string());
  const SearchPath path = SearchPath::standard();
  EXPECT_EQ(path.folders.size(), 2U);
  ASSERT_EQ(path.warnings.size(), 3U);
  EXPECT_NE(path.warnings[0].find(". is left out: only absolute paths"), std::string::npos) << path.warnings[0];
  EXPECT_NE(path.warnings[2].find("is not there"), std::string::npos) << path.warnings[2];
}

TEST_F(SearchPathTest, an_argument_that_is_not_there_is_an_error) {
  for (const SearchOptions& options :
       {SearchOptions{{folder_ / "none"}, {}}, SearchOptions{{""}, {}}, SearchOptions{{}, {folder_ / "none"}}}) {
    try {
      (void)SearchPath::standard(options);
      FAIL() << "a missing folder was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig) << error.what();
    }
  }
}

TEST_F(SearchPathTest, honours_the_users_data_folder) {
  const Variable data("XDG_DATA_HOME", folder_ / "data");
  EXPECT_EQ(SearchPath::standard().folders[0].path, folder_ / "data/tenon/plugins");
}

TEST_F(SearchPathTest, trusts_what_lies_within_a_trusted_folder_and_nothing_beside_it) {
  std::filesystem::create_directories(folder_ / "shared/plugins");
  std::filesystem::create_directories(folder_ / "shared-too");
  const SearchPath path =
      SearchPath::standard({{folder_ / "shared/plugins", folder_ / "shared-too"}, {folder_ / "shared"}});
  EXPECT_TRUE(path.folders[0].trusted);
  EXPECT_FALSE(path.folders[1].trusted);
  EXPECT_FALSE(path.folders[2].trusted);
}

TEST_F(SearchPathTest, finds_the_install_by_this_library) {
  EXPECT_EQ(install_library_folder(), std::filesystem::canonical(TENON_BUILD_DIR "/lib"));
}

TEST_F(SearchPathTest, distrusts_what_others_can_write) {
  put(folder_ / "a.so", "");
  const auto reason = [&](mode_t mode, bool trusted) {
    EXPECT_EQ(::chmod((folder_ / "a.so").c_str(), mode), 0);
    return distrust(folder_ / "a.so", trusted);
  };
  EXPECT_EQ(reason(0755, false), "");
  EXPECT_NE(reason(0775, false).find("can be written by its group: chmod g-w"), std::string::npos);
  EXPECT_EQ(reason(0775, true), "");
  EXPECT_NE(reason(0757, false).find("can be written by everybody"), std::string::npos);
  EXPECT_NE(reason(0757, true).find("can be written by everybody"), std::string::npos);
  EXPECT_THROW((void)distrust(folder_ / "none", false), Refusal);
}

TEST_F(SearchPathTest, distrusts_foreign_owners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  put(folder_ / "a.so", "");
  ASSERT_EQ(::chmod((folder_ / "a.so").c_str(), 0644), 0);
  ASSERT_EQ(::chown((folder_ / "a.so").c_str(), 12345, 0), 0);
  EXPECT_NE(distrust(folder_ / "a.so", false).find("belongs to user 12345, neither to root nor to you"),
            std::string::npos);
  EXPECT_EQ(distrust(folder_ / "a.so", true), "");
}

}  // namespace
}  // namespace tenon::core
