// What tests of the loader read, and how.
#pragma once

#include <cstdint>

#include <engine/data/fakes.hpp>
#include <engine/data/loader.hpp>

namespace tenon::engine::fakes {

/// 21 samples, or as many as are asked for, through a random and a plain transform.
struct Pipe {
  explicit Pipe(int64_t items = 21)
      : dataset(items),
        stream({"train_set", "dataset:fake", &dataset},
               {{"noise", "transform:noise", &noise}, {"to_float", "transform:to_float", &change}}, 7) {}

  FakeDataset dataset;
  FunctionTransform noise = fakes::noise();
  FunctionTransform change = fakes::to_float();
  Stream stream;
};

inline LoaderOptions options(int workers, int64_t prefetch = 2) {
  LoaderOptions made;
  made.node = "train";
  made.batch = 4;
  made.shuffle = true;
  made.workers = workers;
  made.prefetch = prefetch;
  return made;
}

}  // namespace tenon::engine::fakes
