// Opening plugins, and components that are made, owned and destroyed across the border.
#include <core/plugin/loader.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/plugin/made_plugin.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/params.hpp>

namespace tenon::core {
namespace {

int living = 0;

struct FakeParams {
  int64_t size = 8;
  std::string fail;
  TENON_PARAMS(FakeParams, tenon::field(&FakeParams::size, "size", "A size").min(1),
               tenon::field(&FakeParams::fail, "fail", "How to fail"))
};

class Fake final : public Transform {
 public:
  explicit Fake(const FakeParams& params) : size(params.size) {
    if (params.fail == "config") throw Error(ErrorCode::kConfig, "this does not fit", "/size");
    if (params.fail == "memory") throw std::bad_alloc();
    if (params.fail == "foreign") throw 7;  // NOLINT(hicpp-exception-baseclass): a plugin may throw anything
    ++living;
  }
  ~Fake() override { --living; }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}
  int64_t size;
};

const char* describe_nothing() noexcept { return "{}"; }

constexpr ComponentDescriptor kFake{sizeof(ComponentDescriptor),
                                    Transform::kInterface,
                                    Transform::kRevision,
                                    "fake",
                                    "Made for a test",
                                    &describe_nothing,
                                    &detail::create<Fake, FakeParams>,
                                    &detail::destroy<Fake>};

TEST(ComponentHandle, owns_what_it_makes) {
  {
    ComponentHandle first(kFake, {{"size", 3}});
    EXPECT_EQ(living, 1);
    EXPECT_EQ(static_cast<Fake&>(first.as<Transform>()).size, 3);
    ComponentHandle second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that it is empty is the point
    EXPECT_TRUE(second);
    second = ComponentHandle(kFake, {{"size", 4}});
    EXPECT_EQ(living, 1);
    second.reset();
    EXPECT_EQ(living, 0);
    EXPECT_FALSE(second);
    first = ComponentHandle(kFake, Json::object());
  }
  EXPECT_EQ(living, 0);
}

TEST(ComponentHandle, leaves_a_component_alone_that_a_thread_does_not_come_back_from) {
  const Callee& given_up = callee("org.test", "1", "/test.so", "transform:fake", "stuck");
  Component* kept = nullptr;
  {
    const ComponentHandle handle(kFake, Json::object(), &given_up);
    kept = &handle.get();
    given_up.given_up = true;
  }
  EXPECT_EQ(living, 1);
  {
    const ComponentHandle handle(kFake, Json::object(), &given_up);
    EXPECT_EQ(living, 2);
  }
  EXPECT_EQ(living, 1) << "a further run's is destroyed as ever";
  delete kept;  // NOLINT(cppcoreguidelines-owning-memory): nobody else is there to do it
  EXPECT_EQ(living, 0);
}

TEST(ComponentHandle, hands_on_what_the_component_reports) {
  const auto error_of = [](const Json& params) {
    try {
      const ComponentHandle handle(kFake, params);
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorCode::kStorage, "nothing was thrown");
  };
  EXPECT_EQ(error_of({{"fail", "config"}}).code(), ErrorCode::kConfig);
  EXPECT_EQ(error_of({{"fail", "config"}}).pointer(), "/size");
  EXPECT_STREQ(error_of({{"fail", "config"}}).what(), "this does not fit");
  EXPECT_EQ(error_of({{"fail", "memory"}}).code(), ErrorCode::kMemory);
  EXPECT_EQ(error_of({{"fail", "foreign"}}).code(), ErrorCode::kPlugin);
  EXPECT_EQ(error_of({{"size", 0}}).code(), ErrorCode::kConfig);
  EXPECT_EQ(error_of({{"size", 0}}).pointer(), "/size");
  EXPECT_EQ(living, 0);
}

TEST(ComponentHandle, refuses_a_component_that_says_nothing) {
  ComponentDescriptor silent = kFake;
  silent.create = [](const char*, const ErrorSink&) noexcept -> Component* { return nullptr; };
  EXPECT_EQ(message_of<Error>([&] { const ComponentHandle handle(silent, {}); }),
            "it could not be made and does not say why");
}

TEST(ComponentHandle, takes_an_unknown_error_code_for_the_plugins_fault) {
  ComponentDescriptor odd = kFake;
  odd.create = [](const char*, const ErrorSink& sink) noexcept -> Component* {
    sink.report(sink.self, static_cast<ErrorCode>(99), nullptr, "first");
    sink.report(sink.self, ErrorCode::kData, "/x", "second");
    return nullptr;
  };
  try {
    const ComponentHandle handle(odd, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST(ComponentHandle, reports_what_a_destructor_throws_only_where_asked) {
  ComponentDescriptor failing = kFake;
  failing.destroy = [](Component* component, const ErrorSink& sink) noexcept {
    delete component;
    sink.report(sink.self, ErrorCode::kPlugin, "", "destructor failed");
  };
  ComponentHandle handle(failing, Json::object());
  EXPECT_EQ(message_of<Error>([&] { handle.reset(); }), "destructor failed");
  EXPECT_FALSE(handle);
  EXPECT_NO_THROW(ComponentHandle(failing, Json::object()));
  EXPECT_EQ(living, 0);
}

TEST(ComponentHandle, is_not_taken_for_another_interface) {
  const ComponentHandle handle(kFake, Json::object());
  EXPECT_EQ(message_of<Refusal>([&] { (void)handle.as<Dataset>(); }),
            "fake is a tenon.transform revision 1, where tenon.dataset revision 1 is needed");
  EXPECT_THROW((void)ComponentHandle().as<Dataset>(), Refusal);
}

TEST(Loader, knows_only_what_the_catalogue_knows) {
  const TemporaryFolder folder;
  Json manifest = made_manifest("org.a", {made_component("loss", "mine")});
  manifest["api"] = 9;
  put(folder / "a.so", made_plugin(manifest));
  Loader loader(Catalogue::scan(SearchPath::of({folder.path()})));
  EXPECT_NE(message_of<Refusal>([&] {
              (void)loader.create("loss:mine", {});
            }).find("brings it but is refused: it was built for plugin API 9"),
            std::string::npos);
  EXPECT_EQ(message_of<Error>([&] { (void)loader.create("loss:none", {}); }), "no plugin brings loss:none");
  EXPECT_EQ(message_of<Error>([&] { (void)loader.create("loader:threads", {}); }),
            "plugin org.tenon.kernel is part of the kernel");
  EXPECT_EQ(message_of<Error>([&] { (void)loader.open("org.none"); }), "no plugin org.none is there");
  EXPECT_TRUE(loader.opened().empty());
}

TEST(Loader, explains_a_file_with_a_good_manifest_and_nothing_else) {
  const TemporaryFolder folder;
  put_plugin(folder / "a.so", "org.a", "crop");
  Loader loader(Catalogue::scan(SearchPath::of({folder.path()})));
  const std::string message = message_of<Refusal>([&] { (void)loader.create("transform:crop", Json::object()); });
  EXPECT_EQ(message.rfind((folder / "a.so").string() + " cannot be opened: ", 0), 0U) << message;
  EXPECT_EQ(message.find("Bad file descriptor"), std::string::npos) << message;
}

/// A plugin that the build has made.
class BuiltPlugin : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(built_)) GTEST_SKIP() << built_ << " is not built";
  }

  /// A loader over a copy of the plugin with one text of its file replaced by another of the same length.
  Loader with(std::string_view text, std::string_view other) {
    std::string file = content_of(built_);
    const size_t place = file.rfind(text);  // the manifest lies behind the code
    EXPECT_NE(place, std::string::npos) << text;
    EXPECT_EQ(text.size(), other.size());
    if (place != std::string::npos) file.replace(place, text.size(), other);
    // Another name each time: writing into a file that is mapped as code ends the process.
    copy_ = folder_ / fmt::format("copy{}.so", ++copies_);
    put(copy_, file);
    return Loader(Catalogue::scan(SearchPath::of({copy_})));
  }

  const std::filesystem::path built_ = TENON_BUILD_DIR "/lib/tenon/plugins/tenon_transforms.so";
  TemporaryFolder folder_;
  std::filesystem::path copy_;
  int copies_ = 0;
};

TEST_F(BuiltPlugin, is_opened_once_and_makes_components) {
  Loader loader = with("", "");
  ASSERT_TRUE(loader.catalogue().refused().empty()) << loader.catalogue().refused()[0].message;
  const ComponentHandle first = loader.create("transform:random_shift", {{"pixels", 1}});
  const ComponentHandle second = loader.create("transform:to_float", {{"max", 16}});
  EXPECT_EQ(loader.opened().size(), 1U);
  EXPECT_STREQ(first.descriptor().name, "random_shift");
  EXPECT_NO_THROW((void)second.as<Transform>());
  try {
    (void)loader.create("transform:random_shift", {{"pixels", -1}});
    FAIL() << "a negative shift was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/pixels");
  }
}

TEST_F(BuiltPlugin, whose_manifest_says_something_else_is_refused) {
  const auto drift = [](Loader loader) {
    return message_of<Refusal>([&] { (void)loader.open(loader.catalogue().plugins().back().id); });
  };
  const std::string version = drift(with(R"("version": "0.1.0")", R"("version": "0.1.9")"));
  EXPECT_NE(version.find("disagree about its version: \"0.1.9\" and \"0.1.0\""), std::string::npos) << version;
  const std::string name = drift(with(R"("name": "random_shift")", R"("name": "random_shuft")"));
  EXPECT_NE(name.find("disagree about a component"), std::string::npos) << name;
  const std::string trait = drift(with(R"("random")", R"("rendom")"));
  EXPECT_NE(trait.find("disagree about the component "), std::string::npos) << trait;
}

TEST_F(BuiltPlugin, that_was_replaced_after_the_scan_is_refused) {
  Loader loader = with("", "");
  put_plugin(copy_, "org.tenon.transforms", "random_shift");
  EXPECT_NE(message_of<Refusal>([&] {
              (void)loader.create("transform:random_shift", Json::object());
            }).find("was replaced after it had been checked"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::core
