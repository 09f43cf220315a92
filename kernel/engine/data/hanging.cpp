// The sentence.
#include <engine/data/hanging.hpp>

#include <string>

#include <fmt/format.h>

#include <tenon/quantity.hpp>

namespace tenon::engine {

DataError hanging_error(const Stream& stream, int64_t sample, const core::Breadcrumb& call,
                        std::chrono::nanoseconds limit) {
  const bool placed = call.callee != nullptr && *call.callee->node != '\0';
  const std::string place =
      placed ? fmt::format("\"{}\" ({}), ", call.callee->node, call.callee->component) : std::string();
  const std::string inner =
      placed && call.sample >= 0 && call.sample != sample ? fmt::format(", there sample {}", call.sample) : "";
  const Time time{std::chrono::duration<double>(limit).count()};
  return {ErrorCode::kData,
          fmt::format("{}{} of \"{}\"{}: it has been under way for more than {}, the loader's "
                      "\"sample_timeout\"; look at that sample and at what it is read from, or allow more time",
                      place, stream.describe_sample(sample), stream.dataset_node(), inner, to_string(time)),
          placed ? call.callee->node : stream.dataset_node()};
}

}  // namespace tenon::engine
