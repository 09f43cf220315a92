// A lock names plugins by their very bytes, and tells what differs.
#include <core/plugin/lock.hpp>

#include <gtest/gtest.h>

#include <core/plugin/made_plugin.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

class Lock : public testing::Test {
 protected:
  PluginInfo plugin(const std::string& file, const std::string& id) {
    const std::filesystem::path path = put_plugin(folder_.path() / file, id, "one");
    PluginInfo info = parse_manifest(made_manifest(id, {made_component("transform", "one")}));
    info.path = path;
    info.build_id = "0011223344556677";
    return info;
  }

  static std::vector<std::string> drift(const Json& lock, const PluginInfo& plugin,
                                        const std::string& libtorch = "2.11.0") {
    const PluginInfo* const one = &plugin;
    return lock_drift(lock, std::span(&one, 1), libtorch);
  }

  Json locked(const PluginInfo& plugin) {
    const PluginInfo* const one = &plugin;
    return lock_of(std::span(&one, 1), "2.11.0", "cpu");
  }

  TemporaryFolder folder_;
};

TEST_F(Lock, what_was_locked_does_not_drift) {
  const PluginInfo one = plugin("one.so", "org.example.one");
  EXPECT_EQ(drift(locked(one), one), std::vector<std::string>{});
}

TEST_F(Lock, each_difference_is_told_with_both_sides) {
  const PluginInfo one = plugin("one.so", "org.example.one");
  const Json lock = locked(one);
  PluginInfo other = one;
  other.version = "1.1.0";
  EXPECT_EQ(drift(lock, other).at(0), "plugin org.example.one is locked as 1.0.0 (build 001122334455), but " +
                                          one.path.string() + " is 1.1.0 (build 001122334455)");
  other = one;
  other.build_id = "ff";
  EXPECT_NE(drift(lock, other).at(0).find("is 1.0.0 (build ff)"), std::string::npos);
  EXPECT_EQ(drift(lock, one, "2.12.0").at(0), "libtorch is locked as 2.11.0, but here it is 2.12.0");
  EXPECT_EQ(drift(lock, plugin("two.so", "org.example.two")).at(0), "plugin org.example.two 1.0.0 is not in the lock");
}

TEST_F(Lock, a_byte_more_under_the_same_build_id_is_found) {
  const PluginInfo one = plugin("one.so", "org.example.one");
  const Json lock = locked(one);
  put(one.path, made_plugin(made_manifest("org.example.one", {made_component("transform", "one")})) + "x");
  ASSERT_EQ(drift(lock, one).size(), 1U);
  EXPECT_NE(
      drift(lock, one)[0].find("is locked as sha256 " + lock["plugins"][0]["sha256"].get<std::string>().substr(0, 12)),
      std::string::npos);
}

TEST_F(Lock, a_run_s_folder_stands_for_its_lock_and_other_files_are_refused) {
  const Json lock = locked(plugin("one.so", "org.example.one"));
  put(folder_.path() / "run/lock.json", lock.dump());
  EXPECT_EQ(read_lock(folder_.path() / "run"), lock);
  EXPECT_EQ(read_lock(folder_.path() / "run/lock.json"), lock);
  Json entry_without_hash = lock;
  entry_without_hash["plugins"][0].erase("sha256");
  Json later = lock;
  later["format"] = 2;
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{}"), entry_without_hash.dump(), later.dump()}) {
    put(folder_.path() / "bad.json", text);
    try {
      (void)read_lock(folder_.path() / "bad.json");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      EXPECT_NE(std::string(error.what()).find("bad.json"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tenon::core
