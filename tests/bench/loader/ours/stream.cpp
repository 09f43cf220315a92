// The engine's own stream and loader, over plugins of this build.
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <clocks.hpp>
#include <contender.hpp>
#include <core/plugin/builtin.hpp>
#include <engine/data/loader.hpp>
#include <engine/data/stream.hpp>
#include <reading.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/components.hpp>

namespace tenon::bench {
namespace {

template <class Kind>
harness::Made<Kind> component(const Json& node) {
  const std::string file =
      std::string(TENON_BUILD_DIR) + "/lib/tenon/plugins/" + node.at("plugin").get<std::string>() + ".so";
  return harness::Registry::opened(file).make<Kind>(node.at("name").get<std::string>(), node.at("params").dump());
}

class StreamContender final : public Contender {
 public:
  explicit StreamContender(const Json& scenario) : dataset_(component<Dataset>(scenario.at("dataset"))) {
    const double megabytes = resident_megabytes();
    const double begin = now();
    dataset_->open({});
    opened_ = now() - begin;
    index_ = resident_megabytes() - megabytes;
    std::vector<engine::TransformNode> nodes;
    for (const Json& node : scenario.value("transforms", Json::array())) {
      transforms_.push_back(component<Transform>(node));
      const auto name = node.at("name").get<std::string>();
      nodes.push_back({.node = name, .component = "transform:" + name, .transform = transforms_.back().get()});
    }
    const auto name = scenario.at("dataset").at("name").get<std::string>();
    stream_.emplace(engine::DatasetNode{.node = "data", .component = "dataset:" + name, .dataset = dataset_.get()},
                    std::move(nodes), /*seed=*/7);
    options_.node = "train";
    options_.batch = scenario.at("batch").get<int64_t>();
    options_.shuffle = scenario.at("shuffle").get<bool>();
    options_.automatic = scenario.at("workers").is_string();
    if (!options_.automatic) options_.workers = scenario.at("workers").get<int>();
    if (scenario.contains("limit")) options_.limit = scenario.at("limit").get<int64_t>();
  }

  [[nodiscard]] Json about() const override {
    return {{"ready", true}, {"items", dataset_->size()}, {"open_seconds", opened_}, {"index_megabytes", index_}};
  }

  Json act(const Json& command) override {
    const auto what = command.at("do").get<std::string>();
    if (what == "epoch") return read_epoch(kept(), command.value("round", int64_t{0}));
    if (what == "pixels") return write_pixels(command.at("file").get<std::string>());
    if (what == "memory") return read_memory(kept(), command.at("epochs").get<int64_t>());
    // A fresh loader each time, which is made under the clock, as those of the peers are.
    const double begin = now();
    engine::Loader loader(*stream_, options_);
    if (what == "turns") {
      return read_turns(loader, command.at("epochs").get<int64_t>(), command.at("pause").get<double>());
    }
    return read_from(loader, command.value("epoch", int64_t{0}), command.at("batch").get<int64_t>(), begin);
  }

 private:
  /// The loader that lives on from command to command, as in a run.
  engine::Loader& kept() {
    if (!loader_) loader_.emplace(*stream_, options_);
    return *loader_;
  }

  Json write_pixels(const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    Shape shape;
    kept().start(0, 0, 1);
    while (const std::optional<engine::Batch> batch = kept().next()) {
      const engine::BatchField& field = batch->fields.front();
      file.write(static_cast<const char*>(field.data),
                 static_cast<std::streamsize>(Array{field.data, field.dtype, field.shape}.bytes()));
      const int64_t before = shape.empty() ? 0 : shape.front();
      shape = field.shape;
      shape.front() += before;
    }
    const bool floats = kept().plan().batches() > 0 && stream_->fields().front().dtype == Dtype::kFloat32;
    return {{"shape", shape}, {"dtype", floats ? "float32" : "uint8"}};
  }

  harness::Made<Dataset> dataset_;
  std::vector<harness::Made<Transform>> transforms_;
  double opened_ = 0;
  double index_ = 0;
  engine::LoaderOptions options_;
  std::optional<engine::Stream> stream_;
  std::optional<engine::Loader> loader_;
};

}  // namespace

std::unique_ptr<Contender> make_stream(const Json& scenario) { return std::make_unique<StreamContender>(scenario); }

}  // namespace tenon::bench
