// "Did you mean …?"
#include <core/text/suggest.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

const std::vector<std::string> kParameters{"lr",      "momentum", "nesterov",      "weight_decay", "betas",
                                           "eps",     "amsgrad",  "learning_rate", "max",          "min",
                                           "shuffle", "workers",  "batch",         "of",           "in"};

/// The definition, row by row, without a limit.
std::size_t plain_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1U : 0U)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

TEST(EditDistance, EqualsThePlainDefinitionUpToTheLimit) {
  std::vector<std::string> words = kParameters;
  words.insert(words.end(), {"", "a", "ba", "ab", "abcdef", "badcfe", "momnetum"});
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      for (const std::size_t limit : {0U, 1U, 2U, 3U, 20U}) {
        EXPECT_EQ(edit_distance(a, b, limit), std::min(plain_distance(a, b), limit + 1))
            << a << " " << b << " " << limit;
      }
    }
  }
}

TEST(Nearest, FindsEveryNameWithOneLetterLost) {
  for (const std::string& name : kParameters) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::string lost = name;
      lost.erase(i, 1);
      const auto found = nearest(lost, std::vector<std::string>{name});
      EXPECT_EQ(found, name) << lost;
    }
  }
}

TEST(Nearest, FindsSwappedAddedAndChangedLetters) {
  EXPECT_EQ(nearest("momnetum", kParameters), "momentum");
  EXPECT_EQ(nearest("momentumm", kParameters), "momentum");
  EXPECT_EQ(nearest("momentun", kParameters), "momentum");
  EXPECT_EQ(nearest("wieght_decya", kParameters), "weight_decay");
}

TEST(Nearest, CaseAndSeparatorsCountLittle) {
  EXPECT_EQ(nearest("weightDecay", kParameters), "weight_decay");
  EXPECT_EQ(nearest("LEARNING-RATE", kParameters), "learning_rate");
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("dropout", kParameters), std::nullopt);
  EXPECT_EQ(nearest("x", kParameters), std::nullopt);
  EXPECT_EQ(nearest("xy", std::vector<std::string>{"ab"}), std::nullopt);
  EXPECT_EQ(nearest("seed", std::vector<std::string>{"gpus"}), std::nullopt);
  EXPECT_EQ(nearest("", kParameters), std::nullopt);
}

TEST(Nearest, TiesKeepTheEarlier) {
  EXPECT_EQ(nearest("mix", std::vector<std::string>{"max", "min"}), "max");
  EXPECT_EQ(nearest("mix", std::vector<std::string>{"min", "max"}), "min");
}

TEST(Nearest, PrefersNamesThatLostALetterToNamesThatChangedOne) {
  EXPECT_EQ(nearest("sizs", std::vector<std::string>{"size", "sizes"}), "sizes");
  EXPECT_EQ(nearest("train_", std::vector<std::string>{"train", "train_x"}), "train_x");
}

TEST(DidYouMean, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(did_you_mean("momentun", kParameters), "did you mean \"momentum\"?");
  EXPECT_EQ(did_you_mean("dropout", kParameters), "");
}

TEST(IsSlip, TakesFourLettersOrTheSameWord) {
  EXPECT_TRUE(is_slip("momentun", "momentum"));
  EXPECT_TRUE(is_slip("LR", "lr"));
  EXPECT_FALSE(is_slip("l", "lr"));
  EXPECT_FALSE(is_slip("mmentun", "momentum"));
}

TEST(Quoted, EscapesAndCuts) {
  EXPECT_EQ(core::quoted("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(core::quoted("äöü", 2), "\"äö…\"");
  EXPECT_EQ(core::quoted("a\xFF"), "\"a·\"");
}

}  // namespace
}  // namespace tenon::core
