// Quantities with a unit, and what is said of those that are none.
#include <core/units.hpp>

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

struct Good {
  std::string text;
  UnitKind kind;
  Quantity quantity;
};

class Quantities : public testing::TestWithParam<Good> {};

TEST_P(Quantities, Parse) {
  const QuantityResult result = parse_quantity(GetParam().text, std::array{GetParam().kind});
  ASSERT_TRUE(std::holds_alternative<Quantity>(result)) << std::get<QuantityError>(result).message;
  EXPECT_EQ(std::get<Quantity>(result).value, GetParam().quantity.value);
  EXPECT_EQ(std::get<Quantity>(result).unit, GetParam().quantity.unit);
}

INSTANTIATE_TEST_SUITE_P(Good, Quantities,
                         testing::Values(Good{"500 steps", UnitKind::kSpan, {500, Unit::kSteps}},
                                         Good{"1 step", UnitKind::kSpan, {1, Unit::kSteps}},
                                         Good{"1 epoch", UnitKind::kSpan, {1, Unit::kEpochs}},
                                         Good{"3epochs", UnitKind::kSpan, {3, Unit::kEpochs}},
                                         Good{"20000 samples", UnitKind::kSpan, {20000, Unit::kSamples}},
                                         Good{"0 steps", UnitKind::kSpan, {0, Unit::kSteps}},
                                         Good{"15 min", UnitKind::kTime, {900, Unit::kSeconds}},
                                         Good{"1.5 h", UnitKind::kTime, {5400, Unit::kSeconds}},
                                         Good{"30s", UnitKind::kTime, {30, Unit::kSeconds}},
                                         Good{"36500 d", UnitKind::kTime, {36500.0 * 86400, Unit::kSeconds}},
                                         Good{"25 MiB", UnitKind::kBytes, {25.0 * 1048576, Unit::kBytes}},
                                         Good{"2 kB", UnitKind::kBytes, {2000, Unit::kBytes}},
                                         Good{"0.5 KiB", UnitKind::kBytes, {512, Unit::kBytes}}));

struct Bad {
  std::string text;
  std::vector<UnitKind> kinds;
  std::string fix;
  std::string replacement;  // Empty: none.
};

class NoQuantities : public testing::TestWithParam<Bad> {};

TEST_P(NoQuantities, SayHowToMendThem) {
  const QuantityResult result = parse_quantity(GetParam().text, GetParam().kinds);
  ASSERT_TRUE(std::holds_alternative<QuantityError>(result));
  const auto& error = std::get<QuantityError>(result);
  EXPECT_FALSE(error.message.empty());
  EXPECT_EQ(error.fix, GetParam().fix);
  EXPECT_EQ(error.replacement.value_or(""), GetParam().replacement);
}

const std::vector<UnitKind> kSpan{UnitKind::kSpan};
const std::vector<UnitKind> kTime{UnitKind::kTime};
const std::vector<UnitKind> kBytes{UnitKind::kBytes};
const std::vector<UnitKind> kSpanOrTime{UnitKind::kSpan, UnitKind::kTime};

INSTANTIATE_TEST_SUITE_P(Bad, NoQuantities,
                         testing::Values(Bad{"500", kSpan, "write \"500 steps\" or \"500 epochs\"", ""},
                                         Bad{"1", kSpan, "write \"1 step\" or \"1 epoch\"", ""},
                                         Bad{"5", kSpanOrTime, "write \"5 steps\" or \"5 epochs\" or \"5 min\"", ""},
                                         Bad{"500 stps", kSpan, "did you mean \"500 steps\"?", "500 steps"},
                                         Bad{"5 iterations", kSpan, "did you mean \"5 steps\"?", "5 steps"},
                                         Bad{"5 epoch s", kSpan, "did you mean \"5 epochs\"?", "5 epochs"},
                                         Bad{"5 Epochs", kSpan, "did you mean \"5 epochs\"?", "5 epochs"},
                                         Bad{"15 minutes", kTime, "did you mean \"15 min\"?", "15 min"},
                                         Bad{"15 minutes", kSpanOrTime, "did you mean \"15 min\"?", "15 min"},
                                         Bad{"2 hours", kTime, "did you mean \"2 h\"?", "2 h"},
                                         Bad{"25 mib", kBytes, "did you mean \"25 MiB\"?", "25 MiB"},
                                         Bad{"25 Gib", kBytes, "did you mean \"25 GiB\"?", "25 GiB"},
                                         Bad{"15 min", kSpan, "write it like \"500 steps\"", ""},
                                         Bad{"soon", kSpan, "write it like \"500 steps\"", ""},
                                         Bad{"", kSpanOrTime, "write it like \"500 steps\" or \"15 min\"", ""},
                                         Bad{"1.5 epochs", kSpan, "write it like \"500 steps\"", ""},
                                         Bad{"-3 epochs", kSpan, "write it like \"500 steps\"", ""},
                                         Bad{"1e400 steps", kSpan, "write it like \"500 steps\"", ""},
                                         Bad{"36501 d", kTime, "allowed: up to \"36500 d\"", ""},
                                         Bad{"1e19 min", kSpanOrTime, "allowed: up to \"36500 d\"", ""}));

TEST(TooLargeQuantities, AreToldTheBoundOfTheirKind) {
  const auto message = [](std::string_view text, const std::vector<UnitKind>& kinds) {
    const QuantityResult result = parse_quantity(text, kinds);
    const auto* const error = std::get_if<QuantityError>(&result);
    return error == nullptr ? std::string("parsed") : error->message;
  };
  const std::string span = " is too large; a span counts at most 9007199254740991";
  for (const std::vector<UnitKind>& kinds : {kSpan, kSpanOrTime}) {
    EXPECT_EQ(message("99999999999999999999 steps", kinds), "\"99999999999999999999 steps\"" + span);
    EXPECT_EQ(message("1e400 epochs", kinds), "\"1e400 epochs\"" + span);
    EXPECT_EQ(message("9007199254740992 samples", kinds), "\"9007199254740992 samples\"" + span);
    EXPECT_EQ(message("9007199254740991 samples", kinds), "parsed");
  }
  EXPECT_EQ(message("9999999 TB", kBytes),
            "\"9999999 TB\" is too large; a size is less than 4611686018427387904 bytes");
  EXPECT_EQ(message("-1e400 steps", kSpan), "\"-1e400 steps\" is negative");
  EXPECT_NE(message("1e-400 steps", kSpan).find("does not start with a number"), std::string::npos);
}

TEST(UnitKinds, HaveWordsAndExamplesThatParse) {
  for (const UnitKind kind : {UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes}) {
    EXPECT_EQ(unit_kind(unit_word(kind)), kind);
    std::string example(unit_example(kind));
    example = example.substr(1, example.size() - 2);
    EXPECT_TRUE(std::holds_alternative<Quantity>(parse_quantity(example, std::array{kind}))) << example;
  }
  EXPECT_EQ(unit_kind("steps"), std::nullopt);
}

}  // namespace
}  // namespace tenon::core
