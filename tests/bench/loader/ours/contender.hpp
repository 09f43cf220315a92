// A program that is measured: one answer for each command.
#pragma once

#include <memory>

#include <nlohmann/json.hpp>

namespace tenon::bench {

using Json = nlohmann::json;

class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  /// What is known before the first command.
  [[nodiscard]] virtual Json about() const { return {{"ready", true}}; }

  /// \throws std::exception with the reason why there is no answer.
  virtual Json act(const Json& command) = 0;
};

/// The engine's own stream and loader over plugins of this build:
/// {"dataset": {"plugin", "name", "params"}, "transforms": [likewise…], "batch", "workers", "shuffle", "limit"}.
[[nodiscard]] std::unique_ptr<Contender> make_stream(const Json& scenario);

/// The loader alone: batches of one item of 64 × 3 × 224 × 224, of which nothing is written, by {"dtype", "items",
/// "workers"}; or items that take so many seconds each on a core and off it, and seconds on a core that whoever takes a
/// batch spends on it, by {"computing", "waiting", "taking", "items", "batch", "workers"}.
[[nodiscard]] std::unique_ptr<Contender> make_loader(const Json& scenario);

/// What the machine can do at best: JPEGs decoded and nothing else, by {"folder", "threads", "divisor"}, scaled down by
/// the divisor; and copies of memory.
[[nodiscard]] std::unique_ptr<Contender> make_ceiling(const Json& scenario);

/// Says how this program was built, and does nothing.
[[nodiscard]] std::unique_ptr<Contender> make_build();

}  // namespace tenon::bench
