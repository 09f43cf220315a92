// Rounds of checking and editing.
#include <host/fixing.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <core/graph/build.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/file.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRounds = 50;  // Each takes away mistakes that hid others; none is known to need ten.

/// Edits of one file in one round.
struct Proposal {
  core::SourcePtr source;
  std::vector<Edit> edits;
};

core::Diagnostics check(const core::ResolveRequest& request, const core::Catalogue& catalogue) {
  core::Diagnostics findings;
  core::Resolved resolved = core::resolve(request, findings);
  if (resolved.usable()) findings.append(core::build_graph(resolved, catalogue, findings).diagnostics);
  findings.sort();
  return findings;
}

/// The true name of the file that a finding's safe suggestion would change; empty where there is none.
fs::path file_to_fix(const core::Diagnostic& finding) {
  if (!finding.suggestion || finding.suggestion->applicability != core::Applicability::kSafe) return {};
  const core::Span& span = finding.suggestion->span;
  if (!span || span.source->kind() != core::Source::Kind::kFile) return {};
  std::error_code error;
  fs::path path = fs::canonical(span.source->path(), error);
  return error ? fs::path() : path;
}

/// Safe suggestions by the file in which they stand.
std::map<fs::path, Proposal> proposals(const core::Diagnostics& findings) {
  std::map<fs::path, Proposal> found;
  for (const core::Diagnostic& finding : findings.all()) {
    const fs::path path = file_to_fix(finding);
    if (path.empty()) continue;
    const core::Span& span = finding.suggestion->span;
    Proposal& proposal = found[path];
    if (proposal.source == nullptr) proposal.source = span.source;
    if (proposal.source->text() != span.source->text()) continue;
    proposal.edits.push_back({span.begin, span.end, finding.suggestion->replacement});
  }
  return found;
}

/// In a dry run a file that is not the pipeline keeps the mistakes that would be gone.
core::Diagnostics without_fixed(const core::Diagnostics& findings, const std::vector<FixedFile>& files) {
  core::Diagnostics left;
  for (const core::Diagnostic& finding : findings.all()) {
    const fs::path path = file_to_fix(finding);
    const bool gone = std::any_of(files.begin(), files.end(), [&](const FixedFile& file) {
      return file.path == path && file.before == finding.suggestion->span.source->text();
    });
    if (!gone) left.add(finding);
  }
  return left;
}

void require_writable(const FixedFile& file) {
  const fs::path folder = file.path.parent_path();
  for (const fs::path& each : {file.path, folder}) {
    if (::access(each.c_str(), W_OK) != 0) {
      throw Error(ErrorCode::kStorage, fmt::format("cannot change {}: {} may not be written ({})", file.name,
                                                   each.string(), std::system_category().message(errno)));
    }
  }
}

/// Replaces the file's content, which must still be `old`.
void replace_content(const FixedFile& file, std::string_view old) {
  if (core::read_text(file.path, ErrorCode::kStorage) != old) {
    throw Error(ErrorCode::kStorage,
                fmt::format("{} has just been changed by another program; start again", file.name));
  }
  struct stat status = {};
  if (::stat(file.path.c_str(), &status) != 0) throw core::storage_error("read", file.path, errno);
  core::AtomicFile written(file.path);
  written.write(file.after);
  const fs::path& hidden = written.temporary();
  // Another owner can be kept by root alone; for others the file becomes theirs.
  if (::geteuid() == 0 && ::chown(hidden.c_str(), status.st_uid, status.st_gid) != 0) {
    throw core::storage_error("keep the owner of", file.path, errno);
  }
  if (::chmod(hidden.c_str(), status.st_mode & 07777U) != 0) {
    throw core::storage_error("keep the permissions of", file.path, errno);
  }
  written.commit();
}

FixedFile* find(std::vector<FixedFile>& files, const fs::path& path) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const FixedFile& each) { return each.path == path; });
  return found == files.end() ? nullptr : &*found;
}

/// The files as one more round would leave them; those alone that it changes.
std::vector<FixedFile> changes(Fixed& fixed) {
  std::vector<FixedFile> changed;
  for (auto& [path, proposal] : proposals(fixed.left)) {
    const std::string_view now = proposal.source->text();
    const FixedFile* const known = find(fixed.files, path);
    // In a dry run the file itself still has its old content, and these edits were made.
    if (known != nullptr && known->after != now) continue;
    const std::vector<Edit> edits = compatible(std::move(proposal.edits));
    std::string after = edited(now, edits);
    if (after == now) continue;
    FixedFile file = known != nullptr ? *known : FixedFile{path, proposal.source->path(), std::string(now), {}, 0};
    file.after = std::move(after);
    file.edits += edits.size();
    changed.push_back(std::move(file));
  }
  return changed;
}

}  // namespace

std::vector<Edit> compatible(std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::tie(a.begin, a.end, a.replacement) < std::tie(b.begin, b.end, b.replacement);
  });
  edits.erase(std::unique(edits.begin(), edits.end()), edits.end());
  std::vector<Edit> kept;
  for (std::size_t i = 0; i < edits.size();) {
    // All that hang together by overlaps.
    std::size_t next = i + 1;
    std::size_t reach = edits[i].end;
    while (next < edits.size() && (edits[next].begin < reach || edits[next].begin == edits[i].begin)) {
      reach = std::max(reach, edits[next++].end);
    }
    if (next == i + 1) kept.push_back(edits[i]);
    i = next;
  }
  return kept;
}

std::string edited(std::string_view text, std::span<const Edit> edits) {
  std::string out;
  std::size_t from = 0;
  for (const Edit& edit : edits) {
    out += text.substr(from, edit.begin - from);
    out += edit.replacement;
    from = edit.end;
  }
  out += text.substr(from);
  return out;
}

Fixed fix(core::ResolveRequest request, const core::Catalogue& catalogue, FixMode mode) {
  Fixed fixed;
  std::error_code ignored;
  const fs::path pipeline = fs::canonical(request.pipeline, ignored);
  for (int round = 0;; ++round) {
    fixed.left = check(request, catalogue);
    for (const core::Span& span : fixed.left.hidden()) fixed.secrets.emplace_back(span.text());
    const std::vector<FixedFile> changed = round == kMostRounds ? std::vector<FixedFile>() : changes(fixed);
    if (changed.empty()) break;
    if (mode == FixMode::kWrite) std::for_each(changed.begin(), changed.end(), require_writable);
    for (const FixedFile& file : changed) {
      FixedFile* const known = find(fixed.files, file.path);
      if (mode == FixMode::kWrite) replace_content(file, known != nullptr ? known->after : file.before);
      if (mode == FixMode::kDryRun && file.path == pipeline) request.text = file.after;
      if (known != nullptr) {
        *known = file;
      } else {
        fixed.files.push_back(file);
      }
    }
  }
  if (mode == FixMode::kDryRun) fixed.left = without_fixed(fixed.left, fixed.files);
  return fixed;
}

}  // namespace tenon::host
