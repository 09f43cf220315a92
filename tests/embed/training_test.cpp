// Training within a program: its own components and observer, stopping, going on, doing it again.
#include <embed/fixture.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <set>
#include <stdexcept>

#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>

namespace tenon::kernel {
namespace {

struct Point {
  float x, y;
  int64_t label;
};

class Points final : public Dataset {
 public:
  Points(const NoParams& /*params*/, const std::vector<Point>& points, std::shared_ptr<std::atomic<int>> living)
      : points_(points), living_(std::move(living)) {
    ++*living_;
  }
  ~Points() override { --*living_; }

  static Ports ports() {
    return {{}, {Port::of("point", {Dtype::kFloat32}, {2}), Port::of("label", {Dtype::kInt64}, {})}};
  }
  [[nodiscard]] Spec spec() const override { return {{"point", Dtype::kFloat32, {2}}, {"label", Dtype::kInt64, {}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(points_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return "points"; }
  void read(int64_t index, Sample& out) const override {
    const Point& point = points_[static_cast<std::size_t>(index)];
    const auto to = out.allocate("point", Dtype::kFloat32, Shape{2}).as<float>();
    to[0] = point.x;
    to[1] = point.y;
    out.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = point.label;
  }

 private:
  const std::vector<Point>& points_;
  std::shared_ptr<std::atomic<int>> living_;
};

struct MirrorParams {
  double factor = 1;
  TENON_PARAMS(MirrorParams, tenon::field(&MirrorParams::factor, "factor", "What each number is multiplied by").max(10))
};

class Mirror final : public Transform {
 public:
  explicit Mirror(const MirrorParams& params) : factor_(static_cast<float>(params.factor)) {}
  static Ports ports() {
    return {.in = {Port::of("point", {Dtype::kFloat32}, {2})}, .out = {Port::pass_all(), Port::same("point")}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    const auto in = sample.at("point").as<float>();
    const auto out = sample.allocate("point", Dtype::kFloat32, Shape{2}).as<float>();
    std::ranges::transform(in, out.begin(), [&](float value) { return value * factor_; });
  }

 private:
  float factor_;
};
TENON_COMPONENT(Mirror, MirrorParams, "mirror", "Multiplies a point")

class TrainingTest : public EmbedTest {};

constexpr const char* kOwnData = R"(nodes.table={"use":"dataset:points"})";
constexpr const char* kMirrored = R"(+nodes.mirror={"use":"transform:mirror","in":"table","with":{"factor":-1}})";

TEST_F(TrainingTest, ComponentsAndDataOfTheProgramTrainLikeThoseOfPlugins) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < points_.size(); i += 2) {
    const float x = points_[i];
    const float y = points_[i + 1];
    points.push_back({x, y, x + y > 0 ? 1 : 0});
  }
  const auto living = std::make_shared<std::atomic<int>>(0);
  Components own("org.example.points", "2.1.0");
  own.add_linked();
  own.add<Points>("points", "Points of this program", std::cref(points), living);
  const Runtime runtime({}, {own});

  const Result from_file = runtime.train(runtime.load(pipeline_file(), into("file")));
  const Result from_memory = runtime.train(runtime.load(pipeline_file(), into("memory", {kOwnData})));
  const std::string weights = "model.net.safetensors";
  EXPECT_EQ(text_of(from_memory.checkpoint / weights), text_of(from_file.checkpoint / weights));
  EXPECT_NE(text_of(from_memory.directory / "lock.json").find("org.example.points"), std::string::npos);

  const Result mirrored = runtime.train(
      runtime.load(pipeline_file(), into("mirrored", {kOwnData, kMirrored, R"(nodes.scale.in="mirror")"})));
  EXPECT_NE(text_of(mirrored.checkpoint / weights), text_of(from_file.checkpoint / weights));
  EXPECT_EQ(living->load(), 0) << "a component outlives the call that made it";
}

TEST_F(TrainingTest, TheObserverSeesTheRunInOrderAndMayThrow) {
  const Runtime runtime;
  const Pipeline pipeline = runtime.load(pipeline_file(), into("runs"));
  std::vector<Event::Kind> kinds;
  double accuracy = -1;
  const Result result = runtime.train(pipeline, {.observer = [&](const Event& event) {
                                        kinds.push_back(event.kind);
                                        for (const LoggedValue& each : event.values) {
                                          if (each.key == "validate.acc") accuracy = each.value;
                                        }
                                        throw std::runtime_error("an observer of no use");
                                      }});
  ASSERT_GE(kinds.size(), 4U);
  EXPECT_EQ(kinds.front(), Event::Kind::kRunStart);
  EXPECT_EQ(kinds.back(), Event::Kind::kRunEnd);
  EXPECT_EQ(accuracy, result.validation.at("validate.acc"));
  EXPECT_EQ(result.steps, 20);
  EXPECT_FALSE(result.interrupted);
  EXPECT_NE(text_of(result.directory / "log.jsonl").find("an observer of no use"), std::string::npos);
}

TEST_F(TrainingTest, AStopFromAnotherThreadLeavesACheckpointThatTenonGoesOnFromToTheSameBytes) {
  const Runtime runtime;
  const std::vector<std::string> long_run{"fit.epochs=300"};
  const Result whole = runtime.train(runtime.load(pipeline_file(), into("whole", long_run)));
  ASSERT_EQ(whole.steps, 3000);

  std::promise<void> begun;
  std::stop_source stop;
  std::jthread other([&, seen = begun.get_future()](const std::stop_token& given_up) {  // when train() throws
    while (seen.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      if (given_up.stop_requested()) return;
    }
    stop.request_stop();
  });
  bool told = false;
  const Result stopped = runtime.train(runtime.load(pipeline_file(), into("stopped", long_run)),
                                       {.observer =
                                            [&](const Event& event) {
                                              if (event.kind != Event::Kind::kValidateEnd || told) return;
                                              told = true;
                                              begun.set_value();
                                            },
                                        .stop = stop.get_token()});
  EXPECT_TRUE(stopped.interrupted);
  ASSERT_LT(stopped.steps, whole.steps);
  EXPECT_EQ(stopped.checkpoint, stopped.last_checkpoint);

  ASSERT_EQ(tenon("run points.json --resume must --set fit.epochs=300 --set 'run.dir=\"" +
                  (folder_ / "stopped").string() + "\"'"),
            0)
      << text_of(folder_ / "tenon.err");
  EXPECT_EQ(bytes_of(stopped.directory / "checkpoints" / whole.checkpoint.filename()), bytes_of(whole.checkpoint));
}

TEST_F(TrainingTest, WhatTenonLeftIsGoneOnWithHereToTheSameBytes) {
  const Runtime runtime;
  const Result whole = runtime.train(runtime.load(pipeline_file(), into("whole")));
  ASSERT_EQ(tenon("run points.json --interrupt-at 7 --set 'run.dir=\"" + (folder_ / "left").string() + "\"'"), 75)
      << text_of(folder_ / "tenon.err");
  TrainOptions options;
  options.resume = "must";
  const Result resumed = runtime.train(runtime.load(pipeline_file(), into("left")), options);
  EXPECT_EQ(resumed.first_step, 7);
  EXPECT_EQ(bytes_of(resumed.checkpoint), bytes_of(whole.checkpoint));
}

TEST_F(TrainingTest, AStopBeforeTheStartStartsNothing) {
  const Runtime runtime;
  std::stop_source stop;
  stop.request_stop();
  TrainOptions options;
  options.stop = stop.get_token();
  const Result result = runtime.train(runtime.load(pipeline_file(), into("runs")), options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.directory.empty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
}

TEST_F(TrainingTest, AFailedPipelineIsFollowedByAGoodOne) {
  const Runtime runtime;
  const Error error = error_of([&] {
    static_cast<void>(
        runtime.train(runtime.load(pipeline_file(), into("runs", {R"(nodes.table.with.path="missing.csv")"}))));
  });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_EQ(error.exit_code(), 4);
  EXPECT_EQ(error.diagnostics().at(0).pointer, "/nodes/table/with/path");
  EXPECT_EQ(runtime.train(runtime.load(pipeline_file(), into("runs"))).steps, 20);
}

TEST_F(TrainingTest, TwoRuntimesSideBySideGiveTheBytesOfOne) {
  const Runtime first;
  const Runtime second;
  std::map<std::string, std::string> alone;
  { alone = bytes_of(first.train(first.load(pipeline_file(), into("alone"))).checkpoint); }
  std::vector<std::map<std::string, std::string>> found(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        const Runtime& runtime = i == 0 ? first : second;
        const Pipeline pipeline = runtime.load(pipeline_file(), into("side-" + std::to_string(i)));
        found[i] = bytes_of(runtime.train(pipeline).checkpoint);
      });
    }
  }
  EXPECT_EQ(found[0], alone);
  EXPECT_EQ(found[1], alone);
}

TEST_F(TrainingTest, AnExporterIsVerifiedByTheInstalledProgram) {
  const Runtime runtime;
  const Result result = runtime.train(runtime.load(
      pipeline_file(),
      into("runs", {R"(+nodes.script={"use":"exporter:torchscript","of":"net"})", R"(export=["script"])"})));
  ASSERT_EQ(result.exports.size(), 1U);
  EXPECT_TRUE(std::filesystem::is_regular_file(result.exports[0].file));
}

}  // namespace
}  // namespace tenon::kernel
