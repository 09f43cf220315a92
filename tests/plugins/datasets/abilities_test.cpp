// What the manifest lists of datasets that are made of others: what they have where their input has it, but for names of
// classes, which checkpoints keep with the dataset that found them.
#include <algorithm>

#include <plugins/datasets/opened.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>

namespace tenon::test {
namespace {

std::vector<std::string> listed(const std::string& name) {
  return Json::parse(descriptor("tenon_datasets", name).describe()).at("abilities").get<std::vector<std::string>>();
}

TEST(AbilitiesOfDatasets, ListsThoseThatAnInputMayGive) {
  for (const std::string name : {"subset", "limit", "repeat", "split", "concat", "cache"}) {
    const std::vector<std::string> all = listed(name);
    const auto times = [&](const char* ability) { return std::count(all.begin(), all.end(), ability); };
    EXPECT_EQ(times(ItemNames::kAbility), 1) << name;
    EXPECT_EQ(times(PartialRead::kAbility), name == "cache" ? 0 : 1) << name;
    EXPECT_EQ(times(Categorical::kAbility), name == "concat" ? 1 : 0) << name;
  }
}

}  // namespace
}  // namespace tenon::test
