// What is said of changes, and the words that accept them.
#include <core/resume/contract.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/resume/contract_fixture.hpp>
#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

using testing::demo_text;
using testing::graph_of;

TEST(RequireAccepted, lists_every_refused_change_and_both_ways_out) {
  const Graph graph = graph_of(demo_text());
  Json after = graph.resolved;
  after["nodes"]["opt"]["with"]["lr"] = 0.001;
  after["run"]["seed"] = 8;
  after["validate"]["every"] = "2 epochs";
  const std::vector<Change> changes = compare_pipelines(graph.resolved, after, graph);
  const std::string message = message_of<Error>([&] { require_accepted(changes, {}); });
  EXPECT_EQ(message,
            "2 values that training depends on changed since the checkpoint, so that the run is not continued:\n"
            "  nodes.opt.with.lr  0.002 → 0.001  needs --accept lr: counts from here on; equal bytes are no longer "
            "promised\n"
            "  run.seed           7 → 8          needs --accept seed: all randomness is another from here on; equal "
            "bytes are no longer promised\n"
            "to continue it all the same add --accept lr --accept seed; to start a new run instead: --resume never");
  const std::string less = message_of<Error>([&] { require_accepted(changes, {"seed"}); });
  EXPECT_TRUE(less.starts_with("a value that training depends on")) << less;
  EXPECT_EQ(less.find("run.seed"), std::string::npos);
  EXPECT_NO_THROW(require_accepted(changes, {"seed", "lr"}));
  try {
    require_accepted(changes, {"clip"});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
  }
}

TEST(Render, aligns_its_columns_and_shortens_long_values) {
  std::vector<Change> changes(3);
  changes[0].pointer = "/nodes/opt";
  changes[0].effect = Effect::kNeedsAccept;
  changes[0].accept = "model";
  changes[0].consequence = "it is dropped";
  changes[1].pointer = "/a";
  changes[1].before = std::string(50, 'x');
  changes[1].consequence = "x";
  changes[2].pointer = "/b";
  changes[2].after = "ä";
  changes[2].consequence = "y";
  EXPECT_EQ(render(changes), fmt::format("  nodes.opt  {}  needs --accept model: it is dropped\n"
                                         "  a          \"{}… → (absent)  applied: x\n"
                                         "  b          (absent) → \"ä\"{}  applied: y\n",
                                         std::string(43, ' '), std::string(30, 'x'), std::string(29, ' ')));
}

TEST(AcceptWords, are_a_closed_list_with_the_parameters_of_the_optimizers) {
  const Graph graph = graph_of(demo_text());
  EXPECT_TRUE(std::ranges::is_sorted(accept_words()));
  const std::vector<std::string> words = accept_words(graph);
  EXPECT_TRUE(std::ranges::is_sorted(words));
  EXPECT_EQ(words.size(), accept_words().size() + 5);
  EXPECT_NO_THROW(check_accept_words({"lr", "seed", "weight_decay"}, graph));
  const std::string message = message_of<Error>([&] { check_accept_words({"sed", "momentum"}, graph); });
  EXPECT_NE(message.find("does not know \"sed\"; did you mean \"seed\"?"), std::string::npos) << message;
  EXPECT_NE(message.find("does not know \"momentum\""), std::string::npos) << message;
  EXPECT_NE(message.find("weight_decay"), std::string::npos) << message;
}

TEST(Render, shows_long_values_where_they_differ) {
  const std::string front = "image_folder-2:uint8[H, W, 3]:upright:";
  const auto values = [&](const std::string& before, const std::string& after) {
    Change change;
    change.pointer = "/data";
    change.before = front + before;
    change.after = front + after;
    change.consequence = "x";
    const std::string line = render({&change, 1});
    return line.substr(8, line.find("  applied") - 8);
  };
  EXPECT_EQ(values("0123456789abcdef", "0123456789fedcba"), "…456789abcdef\" → …456789fedcba\"");
  EXPECT_EQ(values("ä1" + std::string(40, 'x'), "ä2"), "…ight:ä1xxxxxxxxxxxxxxxxxxxxxxx… → …ight:ä2\"");
  EXPECT_EQ(values("", "more"), "…right:\" → …right:more\"");
}

}  // namespace
}  // namespace tenon::core
