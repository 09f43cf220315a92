// Which plugins are taken, which are refused and why.
#include <core/plugin/catalogue.hpp>

#include <algorithm>
#include <ctime>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <core/plugin/builtin.hpp>
#include <core/plugin/made_plugin.hpp>
#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

Catalogue scan(const std::vector<std::filesystem::path>& folders) { return Catalogue::scan(SearchPath::of(folders)); }

/// Reason and message of the only refused file.
std::string only_refusal(const Catalogue& catalogue) {
  EXPECT_EQ(catalogue.refused().size(), 1U);
  return catalogue.refused().empty() ? "none" : catalogue.refused()[0].reason + ": " + catalogue.refused()[0].message;
}

/// What becomes of a plugin with this manifest.
std::string refusal_of(const Json& manifest) {
  const TemporaryFolder folder;
  put(folder / "a.so", made_plugin(manifest));
  return only_refusal(scan({folder.path()}));
}

/// Time of this thread alone: the machine may be busy with other things.
double thread_milliseconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Catalogue, holds_the_kernels_own_components_always) {
  const Catalogue catalogue = scan({});
  ASSERT_EQ(catalogue.plugins().size(), 1U);
  EXPECT_EQ(catalogue.plugins()[0].id, kKernelPlugin);
  EXPECT_TRUE(catalogue.plugins()[0].built_in());
  ASSERT_NE(catalogue.find("loader", "threads"), nullptr);
  EXPECT_EQ(catalogue.find("loader:threads"), catalogue.find("loader", "threads"));
  EXPECT_EQ(catalogue.plugin_of(catalogue.at("loader:threads")).id, kKernelPlugin);
}

TEST(Catalogue, finds_plugins_in_all_folders) {
  const TemporaryFolder folder;
  put_plugin(folder / "one/b.so", "org.b", "flip");
  put_plugin(folder / "one/a.so", "org.a", "crop");
  put_plugin(folder / "two/c.so", "org.c", "noise");
  put(folder / "one/readme.txt", "no plugin");
  put(folder / "one/nested/d.so", "not looked at");
  const Catalogue catalogue = scan({folder / "one", folder / "missing", folder / "two"});
  EXPECT_TRUE(catalogue.refused().empty()) << only_refusal(catalogue);
  EXPECT_EQ(catalogue.ids(),
            (std::vector<std::string>{"loader:threads", "transform:crop", "transform:flip", "transform:noise"}));
  const ComponentInfo* crop = catalogue.find("transform", "crop");
  ASSERT_NE(crop, nullptr);
  EXPECT_EQ(catalogue.plugin_of(*crop).path, folder / "one/a.so");
  EXPECT_EQ(catalogue.of_kind("transform").size(), 3U);
  EXPECT_EQ(catalogue.of_kind("transform")[0], crop);
  EXPECT_EQ(catalogue.plugin("org.c")->components[0].name, "noise");
  EXPECT_EQ(catalogue.plugin("org.d"), nullptr);
  EXPECT_EQ(catalogue.find("transform:none"), nullptr);
  try {
    (void)catalogue.at("transform:none");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
  }
}

TEST(Catalogue, takes_a_single_file_that_an_argument_names) {
  const TemporaryFolder folder;
  put_plugin(folder / "a.so", "org.a", "crop");
  put_plugin(folder / "b.so", "org.b", "flip");
  EXPECT_EQ(scan({folder / "a.so"}).ids(), (std::vector<std::string>{"loader:threads", "transform:crop"}));
}

TEST(Catalogue, copies_share_what_pointers_point_to) {
  const TemporaryFolder folder;
  put_plugin(folder / "a.so", "org.a", "crop");
  std::optional<Catalogue> first = scan({folder.path()});
  const Catalogue second = *first;
  const ComponentInfo* crop = first->find("transform:crop");
  first.reset();
  EXPECT_EQ(second.find("transform:crop"), crop);
  EXPECT_EQ(crop->name, "crop");
}

TEST(Catalogue, says_why_a_file_is_no_plugin) {
  const TemporaryFolder folder;
  const std::string whole = made_plugin(made_manifest("org.a", {made_component("transform", "crop")}));
  put(folder / "1_empty.so", "");
  put(folder / "2_text.so",
      "#!/bin/sh\nexit 0\n# long enough to hold a whole ELF header, which it does not begin with\n");
  put(folder / "3_cut.so", whole.substr(0, whole.size() / 2));
  put(folder / "4_library.so", made_library({{".text", "code"}}));
  put(folder / "5_damaged.so", made_library({{".tenon.manifest", "{\"id\":"}}));
  std::filesystem::create_symlink(folder / "nowhere", folder / "6_dangling.so");
  std::filesystem::create_directory(folder / "7_folder.so");
  const Catalogue catalogue = scan({folder.path()});
  std::vector<std::string> reasons;
  for (const RefusedPlugin& refused : catalogue.refused()) {
    reasons.push_back(refused.path.filename().string() + " " + refused.reason);
    EXPECT_FALSE(refused.message.empty());
  }
  EXPECT_EQ(reasons, (std::vector<std::string>{"1_empty.so truncated", "2_text.so not-elf", "3_cut.so truncated",
                                               "4_library.so no-manifest", "5_damaged.so manifest",
                                               "6_dangling.so unreadable", "7_folder.so unreadable"}));
  EXPECT_EQ(catalogue.plugins().size(), 1U);
}

TEST(Catalogue, refuses_another_build_and_names_both_sides) {
  Json manifest = made_manifest("org.a", {made_component("loss", "mine")});
  manifest["fingerprint"] = std::string(host_fingerprint()) + " x=y";
  EXPECT_TRUE(
      has(refusal_of(manifest), "fingerprint: it was built differently (x: plugin y, this Tenon nothing said)"));
  manifest["fingerprint"] = "nonsense";
  EXPECT_TRUE(has(refusal_of(manifest), "fingerprint: "));
}

TEST(Catalogue, refuses_another_api_or_interface) {
  Json manifest = made_manifest("org.a", {made_component("loss", "mine")});
  manifest["api"] = 9;
  manifest["later"] = "member";  // of a later format, so the version must be looked at first
  EXPECT_TRUE(has(refusal_of(manifest), "api: it was built for plugin API 9, this Tenon has API 1"));
  manifest = made_manifest("org.a", {made_component("loss", "mine")});
  manifest["components"][0]["revision"] = 7;
  EXPECT_TRUE(has(refusal_of(manifest), "revision: its component loss:mine was built for tenon.loss revision 7"));
}

TEST(Catalogue, a_component_of_a_refused_plugin_is_known_with_the_reason) {
  const TemporaryFolder folder;
  Json manifest = made_manifest("org.a", {made_component("loss", "mine"), made_component("loss", "other")});
  manifest["components"][1]["revision"] = 7;
  put(folder / "a.so", made_plugin(manifest));
  const Catalogue catalogue = scan({folder.path()});
  EXPECT_EQ(catalogue.find("loss:mine"), nullptr);
  ASSERT_NE(catalogue.refused_with("loss:mine"), nullptr);
  const std::string expected =
      fmt::format("plugin org.a ({}) brings it but is refused: its component loss:other", (folder / "a.so").string());
  EXPECT_TRUE(has(catalogue.why_missing("loss:mine"), expected)) << catalogue.why_missing("loss:mine");
  EXPECT_EQ(catalogue.why_missing("loss:none"), "");
  EXPECT_EQ(catalogue.why_missing("loader:threads"), "");
  try {
    (void)catalogue.at("loss:mine");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.code(), ErrorCode::kPlugin);
    EXPECT_EQ(refusal.reason(), "revision");
  }
}

TEST(Catalogue, of_two_with_one_id_the_first_stays) {
  const TemporaryFolder folder;
  put_plugin(folder / "one/a.so", "org.a", "crop");
  put_plugin(folder / "two/a.so", "org.a", "flip");
  const Catalogue catalogue = scan({folder / "two", folder / "one"});
  EXPECT_NE(catalogue.find("transform:flip"), nullptr);
  EXPECT_EQ(catalogue.find("transform:crop"), nullptr);
  const std::string refusal = only_refusal(catalogue);
  EXPECT_TRUE(has(refusal, "duplicate-id: plugin org.a 1.0.0 is taken from " + (folder / "two/a.so").string()))
      << refusal;
}

TEST(Catalogue, of_two_with_one_component_the_first_stays) {
  const TemporaryFolder folder;
  put_plugin(folder / "a.so", "org.a", "crop");
  put_plugin(folder / "b.so", "org.b", "crop");
  const Catalogue catalogue = scan({folder.path()});
  EXPECT_EQ(catalogue.find("transform:crop")->plugin, "org.a");
  const std::string refusal = only_refusal(catalogue);
  EXPECT_TRUE(has(refusal, "duplicate-component: transform:crop is brought by plugin org.a")) << refusal;
}

TEST(Catalogue, nobody_takes_the_place_of_the_kernels_own) {
  EXPECT_TRUE(has(refusal_of(made_manifest("org.a", {made_component("loader", "threads")})),
                  "duplicate-component: loader:threads is brought by plugin org.tenon.kernel (the kernel itself)"));
  EXPECT_TRUE(has(refusal_of(made_manifest(kKernelPlugin, {})), "duplicate-id: "));
}

TEST(Catalogue, of_two_with_one_torch_namespace_the_first_stays) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    Json manifest = made_manifest(std::string("org.") + name, {made_component("loss", name)});
    manifest["namespaces"] = {"mine", std::string("own_") + name};
    put(folder / (std::string(name) + ".so"), made_plugin(manifest));
  }
  const std::string refusal = only_refusal(scan({folder.path()}));
  EXPECT_TRUE(has(refusal, "duplicate-namespace: the torch operator namespace mine is registered by plugin org.a"))
      << refusal;
}

TEST(Catalogue, one_file_found_twice_is_one_plugin) {
  const TemporaryFolder folder;
  put_plugin(folder / "one/a.so", "org.a", "crop");
  std::filesystem::create_directory(folder / "two");
  std::filesystem::create_symlink(folder / "one/a.so", folder / "two/link.so");
  const Catalogue catalogue = scan({folder / "one", folder / "two", folder / "one"});
  EXPECT_EQ(catalogue.plugins().size(), 2U);
  EXPECT_TRUE(catalogue.refused().empty());
}

TEST(Catalogue, a_link_in_a_folder_that_is_not_trusted_hides_no_plugin) {
  const TemporaryFolder folder;
  put_plugin(folder / "good/a.so", "org.a", "crop");
  std::filesystem::create_directory(folder / "open");
  std::filesystem::create_symlink(folder / "good/a.so", folder / "open/a.so");
  std::filesystem::create_hard_link(folder / "good/a.so", folder / "open/b.so");
  ASSERT_EQ(::chmod((folder / "open").c_str(), 0777), 0);
  const Catalogue catalogue = scan({folder / "open", folder / "open", folder / "good"});
  ASSERT_NE(catalogue.find("transform:crop"), nullptr);
  EXPECT_EQ(catalogue.plugin("org.a")->path, folder / "good/a.so");
  ASSERT_EQ(catalogue.refused().size(), 1U);
  EXPECT_EQ(catalogue.refused().front().reason, "untrusted");
}

TEST(Catalogue, does_not_trust_what_others_can_write) {
  const TemporaryFolder folder;
  put_plugin(folder / "file/a.so", "org.a", "crop");
  put_plugin(folder / "folder/b.so", "org.b", "flip");
  std::filesystem::create_directory(folder / "link");
  put_plugin(folder / "open/c.so", "org.c", "noise");
  std::filesystem::create_symlink(folder / "open/c.so", folder / "link/c.so");
  ASSERT_EQ(::chmod((folder / "file/a.so").c_str(), 0666), 0);
  ASSERT_EQ(::chmod((folder / "folder").c_str(), 0777), 0);
  ASSERT_EQ(::chmod((folder / "open").c_str(), 0777), 0);
  const Catalogue catalogue = scan({folder / "file", folder / "folder", folder / "link"});
  EXPECT_EQ(catalogue.plugins().size(), 1U);
  ASSERT_EQ(catalogue.refused().size(), 3U);
  for (const RefusedPlugin& refused : catalogue.refused()) {
    EXPECT_EQ(refused.reason, "untrusted") << refused.path;
    EXPECT_TRUE(has(refused.message, "can be written by everybody")) << refused.message;
  }
  EXPECT_TRUE(has(catalogue.why_missing("transform:crop"), "chmod o-w " + (folder / "file/a.so").string()));
}

TEST(Catalogue, group_writable_needs_trust) {
  const TemporaryFolder folder;
  put_plugin(folder / "a.so", "org.a", "crop");
  ASSERT_EQ(::chmod((folder / "a.so").c_str(), 0664), 0);
  SearchPath path = SearchPath::of({folder.path()});
  EXPECT_TRUE(has(only_refusal(Catalogue::scan(path)), "untrusted: "));
  path.folders[0].trusted = true;
  EXPECT_TRUE(Catalogue::scan(path).refused().empty());
}

TEST(CatalogueOf, takes_given_plugins_by_the_same_rules) {
  const auto plugin = [](const char* id) {
    return parse_manifest(made_manifest(id, {made_component("transform", "crop")}));
  };
  const Catalogue catalogue = Catalogue::of(
      {plugin("org.a"), plugin("org.b")}, {{"/x.so", "fingerprint", "it was built differently", "org.x", {"loss:x"}}});
  EXPECT_EQ(catalogue.find("transform:crop")->plugin, "org.a");
  EXPECT_NE(catalogue.find("loader:threads"), nullptr);
  ASSERT_EQ(catalogue.refused().size(), 2U);
  EXPECT_EQ(catalogue.why_missing("loss:x"), "plugin org.x (/x.so) brings it but is refused: it was built differently");
  EXPECT_EQ(catalogue.refused()[1].reason, "duplicate-component");
}

TEST(Catalogue, reads_two_hundred_plugins_in_milliseconds) {
#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
  GTEST_SKIP() << "times count in release builds alone";
#endif
  const TemporaryFolder folder;
  for (int i = 0; i < 200; ++i) {
    std::vector<Json> components;
    for (int k = 0; k < 3; ++k) {
      components.push_back(made_component("transform", fmt::format("t{}_{}", i, k)));
      Json& properties = components.back()["parameters"]["properties"];
      for (const char* name : {"size", "rate", "mode"}) {
        properties[name] = {
            {"type", "number"}, {"description", "A parameter of a usual kind"}, {"default", 1}, {"minimum", 0}};
      }
    }
    put(folder / fmt::format("p{}.so", i), made_plugin(made_manifest(fmt::format("org.p{}", i), components)));
  }
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const double start = thread_milliseconds();
    const Catalogue catalogue = scan({folder.path()});
    best = std::min(best, thread_milliseconds() - start);
    ASSERT_EQ(catalogue.ids().size(), 601U);
  }
  RecordProperty("milliseconds", std::to_string(best));
  EXPECT_LT(best, 200.0) << "ten and a bit are usual; this is twenty times that, for machines that are busy";
}

}  // namespace
}  // namespace tenon::core
