// The numbers are the engine's, the drawing is that of plot().
#include <host/schedule_plot.hpp>

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/canonical_json.hpp>
#include <core/text/suggest.hpp>
#include <host/pipeline.hpp>
#include <host/plot.hpp>

namespace tenon::host {
namespace {

constexpr std::size_t kUsualWidth = 80;  // where there is no terminal

}  // namespace

const core::Node& schedule_at(const core::Graph& graph, const std::string& name) {
  const core::Node* const node = graph.find(name);
  if (node != nullptr && node->kind == "schedule") return *node;
  std::vector<std::string> schedules;
  for (const core::Node& each : graph.nodes) {
    if (each.kind == "schedule") schedules.push_back(each.name);
  }
  const std::string what = node == nullptr ? "is no node of the pipeline" : fmt::format("is {}", node->use());
  throw Error(ErrorCode::kConfig,
              fmt::format("--plot draws a schedule, and {} {}; {}", core::quoted(name), what,
                          schedules.empty() ? "the pipeline has no schedules"
                                            : fmt::format("the pipeline's schedules: {}", fmt::join(schedules, ", "))));
}

std::string curve_page(const engine::ScheduleCurve& curve, const core::Node& schedule, const Console& console) {
  std::vector<PlotPoint> points;
  for (const auto& [applied, value] : curve.values) points.push_back({applied + 1, value});
  std::vector<PlotMark> marks;
  if (const int64_t end = end_of_warmup(points); end >= 0) marks.push_back({end, "end of warm-up"});
  const std::size_t width = console.width() > 0 ? console.width() : kUsualWidth;
  const std::string steps = counted(static_cast<std::size_t>(curve.planned), "step");
  return fmt::format("{} of {}, driven by {} ({}) over {}, {} an epoch; configured {}\n\n{}", curve.field, curve.of,
                     console.paint().bold(schedule.name), schedule.use(), steps, curve.steps_per_epoch,
                     curve.configured,
                     plot(points, marks, {.width = width, .height = 13, .unicode = locale_is_utf8()}));
}

core::Json curve_json(const engine::ScheduleCurve& curve, const core::Node& schedule) {
  core::Json json{{"node", schedule.name},        {"of", curve.of},
                  {"field", curve.field},         {"configured", core::number_json(curve.configured)},
                  {"planned", curve.planned},     {"steps_per_epoch", curve.steps_per_epoch},
                  {"values", core::Json::array()}};
  for (const auto& [applied, value] : curve.values) {
    json["values"].push_back(core::Json::array({applied + 1, core::number_json(value)}));
  }
  return json;
}

}  // namespace tenon::host
