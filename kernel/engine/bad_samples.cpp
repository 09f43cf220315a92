// Bad samples of all ranks as one text.
#include <engine/bad_samples.hpp>

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <engine/agreement.hpp>

namespace tenon::engine {
namespace {

/// "; … (sample 7 in its place)" for each of the first ones, and a sign that there were more.
std::string list_first(const BadSamples& bad, int64_t all) {
  std::string text;
  for (const BadSample& each : bad.first) {
    text +=
        fmt::format("; {}{}", each.message,
                    each.substitute < 0 ? std::string() : fmt::format(" (sample {} in its place)", each.substitute));
  }
  if (static_cast<int64_t>(bad.first.size()) < all) text += "; …";
  return text;
}

}  // namespace

std::string describe_bad_samples(Feed& feed, const std::string& who, Collectives& ranks) {
  if (!feed.tolerates_bad_samples()) return {};
  const BadSamples own = feed.take_bad_samples();
  int64_t all = own.count;
  add_up(ranks, {&all, 1});
  if (all == 0) return {};
  int64_t backwards = own.count > 0 ? ranks.world() - ranks.rank() : 0;  // the greatest is that of the first rank
  agree(ranks, {&backwards, 1});
  return fmt::format("{}: {} could not be made{}", who, all == 1 ? "1 sample" : fmt::format("{} samples", all),
                     broadcast_text(ranks, list_first(own, all), ranks.world() - backwards));
}

void tell_feed(Events& events, Feed& feed, const std::string& who, Collectives& ranks) {
  for (std::string& text : feed.take_messages()) events.tell(Event::Kind::kTiming, {}, std::move(text));
  std::string bad = describe_bad_samples(feed, who, ranks);
  if (!bad.empty()) events.tell(Event::Kind::kMessage, {}, std::move(bad));
}

}  // namespace tenon::engine
