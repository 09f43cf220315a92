// What a TorchScript file says of itself beside the graph: an extra file in the archive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tenon/params.hpp>

namespace tenon::exporters {

/// Name of the extra file.
inline constexpr const char* kMetadataFile = "tenon.json";

struct Metadata {
  int64_t format = 1;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<int64_t>> dynamic;

  TENON_PARAMS(Metadata, field(&Metadata::format, "format", "Revision of this file").min(1).max(1),
               field(&Metadata::inputs, "inputs", "Input ports in the order of forward's arguments"),
               field(&Metadata::outputs, "outputs", "Output ports; several come as a tuple in this order"),
               field(&Metadata::dynamic, "dynamic", "Axes of each input whose size may differ from call to call"))
};

/// JSON that parse_params<Metadata> reads.
[[nodiscard]] std::string to_json(const Metadata& metadata);

}  // namespace tenon::exporters
