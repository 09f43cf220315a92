// Runs samples through the stages and gives every failure its place.
#include <engine/data/stream.hpp>

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>
#include <utility>

#include <fmt/format.h>

#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {
namespace {

std::string who(const Stage& stage) { return fmt::format("\"{}\" ({})", stage.node, stage.component); }

// What the exception that is being handled says, whatever its type.
std::string cause() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (type == nullptr) {
      return "a foreign exception";
    }
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr),
                                                           std::free);
    return fmt::format("an exception of type {}", name ? name.get() : type->name());
  }
}

void check(const Stage& stage) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kPlugin, fmt::format("{}: its spec {}", who(stage), what));
  };
  if (stage.spec.empty()) {
    refuse("has no fields");
  }
  for (const FieldSpec& field : stage.spec) {
    if (find(stage.spec, field.name) != &field) {
      refuse(fmt::format("names field \"{}\" twice", field.name));
    }
    for (const Dim& dim : field.shape) {
      if (dim.fixed() && dim.size < 0) {
        refuse(fmt::format("gives field \"{}\" an axis of {}", field.name, dim.size));
      }
    }
  }
}

template <class Ask>
void ask_spec(Stage& stage, const Ask& ask) {
  const core::Entered entered(stage.callee, "spec");
  try {
    stage.spec = ask();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", who(stage), error.what()), error.pointer());
  } catch (...) {
    throw Error(ErrorCode::kPlugin, fmt::format("{}: {}", who(stage), cause()));
  }
  check(stage);
}

}  // namespace

Stream::Stream(DatasetNode dataset, std::vector<TransformNode> transforms, uint64_t seed)
    : dataset_(dataset.dataset), seed_(seed) {
  stages_.reserve(transforms.size() + 1);
  Stage first{std::move(dataset.node), std::move(dataset.component), 0, nullptr, dataset.callee, {}, {}};
  ask_spec(first, [&] { return dataset_->spec(); });
  first.source.assign(first.spec.size(), -1);
  stages_.push_back(std::move(first));
  for (TransformNode& transform : transforms) {
    const Spec& in = stages_.back().spec;
    const uint64_t key = name_key(transform.node);
    Stage stage{
        std::move(transform.node), std::move(transform.component), key, transform.transform, transform.callee, {}, {}};
    ask_spec(stage, [&] { return stage.transform->spec(in); });
    for (const FieldSpec& field : stage.spec) {
      const FieldSpec* source = find(in, field.name);
      stage.source.push_back(source == nullptr ? -1 : static_cast<int>(source - in.data()));
    }
    stages_.push_back(std::move(stage));
  }
}

int64_t Stream::size() const {
  const core::Entered entered(stages_.front().callee, "size");
  try {
    return dataset_->size();
  } catch (...) {
    throw Error(ErrorCode::kData, fmt::format("{}: {}", who(stages_.front()), cause()));
  }
}

void Stream::run(const SampleKey& key, Destination& destination, Workspace& workspace) const {
  workspace.arena_.reset();
  workspace.values_.resize(stages_.size());
  static const Spec kNothing;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    std::vector<Value>& out = workspace.values_[i];
    out.resize(stages_[i].spec.size());
    const std::span<const Value> in = i == 0 ? std::span<const Value>() : workspace.values_[i - 1];
    StageSample sample(stages_[i], i == 0 ? kNothing : stages_[i - 1].spec, in, out, workspace.arena_,
                       i + 1 == stages_.size() ? &destination : nullptr);
    run_stage(stages_[i], key, sample);
  }
}

void Stream::run_stage(const Stage& stage, const SampleKey& key, StageSample& sample) const {
  const core::Entered entered(stage.callee, stage.transform == nullptr ? "read" : "apply", key.index);
  try {
    if (stage.transform == nullptr) {
      dataset_->read(key.index, sample);
    } else {
      Rng random(random_key({seed_, stage.key, static_cast<uint64_t>(key.epoch), static_cast<uint64_t>(key.index),
                             static_cast<uint64_t>(key.occurrence)}));
      stage.transform->apply(sample, random, {key.epoch, key.epochs});
    }
    sample.finish();
  } catch (...) {
    throw DataError(
        ErrorCode::kData,
        fmt::format("{}, sample {} of \"{}\", epoch {}: {}", who(stage), key.index, dataset_node(), key.epoch, cause()),
        stage.node);
  }
}

}  // namespace tenon::engine
