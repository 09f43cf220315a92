// The cases that the linker put together, and what they report to.
#include <conformance/case.hpp>

#include <algorithm>
#include <cstring>

// The linker makes these names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const tenon::conformance::Case* const __start_tenon_conformance_cases[] __attribute__((visibility("hidden")));
extern const tenon::conformance::Case* const __stop_tenon_conformance_cases[] __attribute__((visibility("hidden")));
}
// NOLINTEND(readability-identifier-naming)

namespace tenon::conformance {

std::vector<const Case*> cases() {
  std::vector<const Case*> all(__start_tenon_conformance_cases, __stop_tenon_conformance_cases);
  std::sort(all.begin(), all.end(), [](const Case* a, const Case* b) { return a->name < b->name; });
  return all;
}

bool glob_match(std::string_view glob, std::string_view name) noexcept {
  if (glob.empty()) return name.empty();
  if (glob.front() == '*') {
    return glob_match(glob.substr(1), name) || (!name.empty() && glob_match(glob, name.substr(1)));
  }
  return !name.empty() && (glob.front() == '?' || glob.front() == name.front()) &&
         glob_match(glob.substr(1), name.substr(1));
}

const std::vector<Trial>& Bench::trials() {
  if (trials_.empty()) {
    doing("looking for parameters and inputs that work");
    Working working = find_working(subject_, subject_.first_params());
    if (working.trials.empty()) throw Skip{"no parameters and inputs were found that work: " + working.why_not};
    trials_ = std::move(working.trials);
  }
  return trials_;
}

void Bench::fail(std::string message, std::string cure, const Json& params) {
  findings_.push_back({Severity::kError, std::move(message), std::move(cure), params});
}

void Bench::warn(std::string message, std::string cure, const Json& params) {
  findings_.push_back({Severity::kWarning, std::move(message), std::move(cure), params});
}

void Bench::doing(const std::string& what) {
  const std::size_t length = std::min(what.size(), activity_size_ - 1);
  std::memcpy(activity_, what.data(), length);
  activity_[length] = '\0';
}

}  // namespace tenon::conformance
