// Words that people type for components and plugins.
#include <host/find_component.hpp>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/error.hpp>

namespace tenon::host {
namespace {

core::PluginInfo plugin(const std::string& id, const std::vector<std::pair<std::string, std::string>>& components) {
  core::PluginInfo info;
  info.id = id;
  for (const auto& [kind, name] : components) {
    core::ComponentInfo& component = info.components.emplace_back();
    component.kind = kind;
    component.name = name;
    component.plugin = id;
  }
  return info;
}

core::Catalogue catalogue() {
  core::RefusedPlugin refused;
  refused.path = "/old.so";
  refused.reason = "fingerprint";
  refused.message = "built for another libtorch";
  refused.id = "org.test.old";
  refused.components = {"loss:aged"};
  return core::Catalogue::of({plugin("org.test.some", {{"loss", "margin"}, {"loss", "twice"}, {"metric", "twice"}})},
                             {refused});
}

/// What is said, behind the number of the code.
std::string told(const std::function<void()>& search) {
  try {
    search();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "found";
}

TEST(FindComponent, TakesFullNamesAndBareOnesOfOneKind) {
  const core::Catalogue all = catalogue();
  EXPECT_EQ(find_component(all, "loss:margin").id(), "loss:margin");
  EXPECT_EQ(find_component(all, "margin").id(), "loss:margin");
  EXPECT_EQ(find_installed(all, "metric:twice").component->id(), "metric:twice");
  EXPECT_EQ(find_installed(all, "margin").plugin.id, "org.test.some");
  EXPECT_EQ(find_installed(all, "org.test.some").component, nullptr);
}

TEST(FindComponent, TellsWhatWasMeant) {
  const core::Catalogue all = catalogue();
  const std::string config = std::to_string(static_cast<int>(ErrorCode::kConfig));
  for (const bool plugins_too : {false, true}) {
    const auto say = [&](const std::string& name) {
      return told([&] { plugins_too ? (void)find_installed(all, name) : (void)find_component(all, name); });
    };
    EXPECT_EQ(say("twice"), config + " \"twice\" can mean loss:twice, metric:twice; give one of them");
    EXPECT_NE(say("margn").find("did you mean \"margin\"?"), std::string::npos) << say("margn");
    EXPECT_NE(say("los:margin").find("did you mean \"loss:margin\"?"), std::string::npos);
    EXPECT_NE(say("org.test.sone").find(plugins_too ? "did you mean \"org.test.some\"?" : "tenon plugins list"),
              std::string::npos);
  }
}

TEST(FindComponent, GivesTheReasonForWhatOnlyARefusedPluginBrings) {
  const core::Catalogue all = catalogue();
  const std::string begin = std::to_string(static_cast<int>(ErrorCode::kPlugin)) + " ";
  for (const char* const name : {"aged", "loss:aged"}) {
    for (const std::string& said :
         {told([&] { (void)find_component(all, name); }), told([&] { (void)find_installed(all, name); })}) {
      EXPECT_TRUE(said.starts_with(begin)) << said;
      EXPECT_NE(said.find("built for another libtorch"), std::string::npos) << said;
    }
  }
  EXPECT_EQ(told([&] { (void)find_installed(all, "org.test.old"); }),
            begin + "plugin org.test.old (/old.so) is refused: built for another libtorch");
}

}  // namespace
}  // namespace tenon::host
