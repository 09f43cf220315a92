// The one error type: every finding with its place.
#include <embed/fixture.hpp>

#include <algorithm>

#include <tenon/components/schedule.hpp>

namespace tenon::kernel {
namespace {

class Still final : public Schedule {
 public:
  explicit Still(const NoParams& /*params*/) {}
  double factor(const Progress& /*progress*/) override { return 1; }
};

class ErrorsTest : public EmbedTest {};

TEST_F(ErrorsTest, EveryFindingComesWithPlaceAndFix) {
  std::string text = kPipeline;
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"lr\"", "\"learning_rate\"");
  replace("net.logits\", \"target\": \"batch.label\" } },\n    \"acc\"",
          "nett.logits\", \"target\": \"batch.label\" } },\n    \"acc\"");
  PipelineOptions options = into("runs");
  options.text = text;
  const Runtime runtime;
  const Error error = error_of([&] { static_cast<void>(runtime.load("memory.json", options)); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.exit_code(), 2);
  ASSERT_GE(error.diagnostics().size(), 2U);
  const auto unknown = std::ranges::find(error.diagnostics(), "/nodes/opt/with/learning_rate", &Diagnostic::pointer);
  ASSERT_NE(unknown, error.diagnostics().end());
  EXPECT_EQ(unknown->severity, "error");
  EXPECT_EQ(unknown->code, "unknown-key");
  EXPECT_EQ(unknown->file, "memory.json");
  EXPECT_EQ(unknown->line,
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("learning_rate")), '\n'));
  EXPECT_GT(unknown->column, 1);
  EXPECT_NE(std::string(error.what()).find("memory.json:" + std::to_string(unknown->line)), std::string::npos);
  EXPECT_NE(std::string(error.what()).find("nett"), std::string::npos);
}

TEST_F(ErrorsTest, EveryErrorIsAlsoTheErrorOfComponents) {
  const Runtime runtime;
  try {
    static_cast<void>(runtime.load(folder_ / "missing.json"));
    FAIL() << "nothing was thrown";
  } catch (const tenon::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(dynamic_cast<const Error*>(&error), nullptr);
  }
}

TEST_F(ErrorsTest, ComponentsThatCannotBeAreRefusedWhereTheyAreDeclared) {
  EXPECT_EQ(error_of([] { Components own("Embed"); }).code(), ErrorCode::kConfig);
  EXPECT_EQ(error_of([] { Components own("org.example.embed", "1"); }).code(), ErrorCode::kConfig);
  Components own("org.example.embed");
  own.add<Still>("still", "Changes nothing");
  EXPECT_NE(std::string(error_of([&] { own.add<Still>("still", "Once more"); }).what()).find("still"),
            std::string::npos);

  Components known("org.example.embed");
  known.add<Still>("constant", "A name that a plugin has taken");
  const Error error = error_of([&] { const Runtime runtime({}, {known}); });
  EXPECT_EQ(error.code(), ErrorCode::kPlugin);
  EXPECT_NE(std::string(error.what()).find("schedule:constant"), std::string::npos);
}

TEST_F(ErrorsTest, AFolderOfPluginsThatIsNotThereIsAnError) {
  RuntimeOptions options;
  options.plugin_paths = {folder_ / "nowhere"};
  EXPECT_EQ(error_of([&] { const Runtime runtime(options); }).code(), ErrorCode::kConfig);
}

TEST_F(ErrorsTest, AFileOfFirstValuesIsMissedBeforeTrainingBegins) {
  const Runtime runtime;
  const Pipeline pipeline = runtime.load(pipeline_file(), into("runs", {R"(nodes.net.load="missing.safetensors")"}));
  const Error error = error_of([&] { static_cast<void>(runtime.train(pipeline)); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.diagnostics().at(0).pointer, "/nodes/net/load");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

}  // namespace
}  // namespace tenon::kernel
