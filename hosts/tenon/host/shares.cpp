// Parts of a batch as the kernel cuts them.
#include <host/shares.hpp>

#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::Json;

/// The batch over all ranks; nothing where the loader does not tell it so.
std::optional<int64_t> batch_of(const core::Node& loader, int64_t world) {
  const Json* batch = core::find_member(loader.with, "batch");
  int64_t factor = 1;
  if (const Json* const each = batch == nullptr ? nullptr : core::find_member(*batch, "per_rank")) {
    batch = each;
    factor = world;
  }
  int64_t samples = 0;
  if (batch == nullptr || !batch->is_number_integer()) return std::nullopt;
  if (__builtin_mul_overflow(batch->get<int64_t>(), factor, &samples)) return std::nullopt;
  return samples;
}

std::string parts_text(const Share& share, int64_t world) {
  const std::string ranks = counted(static_cast<std::size_t>(world), "rank");
  if (share.least == share.most) return fmt::format("{} on each of {}", share.most, ranks);
  return fmt::format("{} or {} on each of {}", share.least, share.most, ranks);
}

}  // namespace

std::vector<Share> shares_of(const core::Graph& graph, int64_t world) {
  std::vector<Share> shares;
  for (const core::Node& node : graph.nodes) {
    if (node.kind != "loader") continue;
    if (const std::optional<int64_t> batch = batch_of(node, world)) {
      shares.push_back({node.name, *batch, *batch / world, *batch / world + (*batch % world != 0 ? 1 : 0)});
    }
  }
  return shares;
}

core::Diagnostics judge(const std::vector<Share>& shares, int64_t world, const core::Graph& graph,
                        const core::Resolved& resolved) {
  core::Diagnostics findings;
  for (const Share& share : shares) {
    if (share.least == share.most) continue;
    const core::Node& node = graph.at(share.node);
    const bool none = share.least == 0;
    const std::string batch = counted(static_cast<std::size_t>(share.batch), "sample");
    core::Diagnostic finding = resolved.error_at_value(
        node.pointer + "/with/batch", none ? "batch-too-small" : "uneven-batch",
        none ? fmt::format("a batch of {} leaves {} of {} ranks without any", batch, world - share.batch, world)
             : fmt::format("a batch of {} gives {} ranks unequal parts", batch, world));
    if (none) {
      finding.label = fmt::format("at least {}", world);
    } else {
      finding.severity = core::Severity::kWarning;
      finding.label = fmt::format("{} and {} can be shared evenly", share.least * world, share.most * world);
      finding.notes.push_back(
          fmt::format("{}; ranks with fewer samples wait for the others", parts_text(share, world)));
    }
    findings.add(std::move(finding));
  }
  return findings;
}

std::string shares_text(const std::vector<Share>& shares, int64_t world, const Console& console) {
  Table table(2);
  table.style(0, [paint = console.paint()](std::string_view text) { return paint.bold(text); });
  for (const Share& share : shares) {
    table.add({share.node, fmt::format("{} a micro-batch, {}", counted(static_cast<std::size_t>(share.batch), "sample"),
                                       parts_text(share, world))});
  }
  return table.render(console.width());
}

Json shares_json(const std::vector<Share>& shares, int64_t world) {
  Json json{{"size", world}, {"loaders", Json::array()}};
  for (const Share& share : shares) {
    json["loaders"].push_back(
        {{"node", share.node}, {"batch", share.batch}, {"least", share.least}, {"most", share.most}});
  }
  return json;
}

}  // namespace tenon::host
