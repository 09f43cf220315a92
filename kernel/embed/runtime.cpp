// Finding plugins, reading pipelines.
#include <tenon/kernel/runtime.hpp>

#include <algorithm>
#include <utility>

#include <core/plugin/refusal.hpp>
#include <core/plugin/search_path.hpp>
#include <core/storage/canonical_json.hpp>
#include <embed/content.hpp>
#include <embed/errors.hpp>

namespace tenon::kernel {
namespace {

core::Catalogue scan(const RuntimeOptions& options, const std::vector<Components>& own) {
  const core::Catalogue found =
      core::Catalogue::scan(core::SearchPath::standard({options.plugin_paths, options.trusted}));
  std::vector<core::PluginInfo> linked;
  linked.reserve(own.size());
  for (const Components& components : own) linked.push_back(components.content()->plugin());
  return with_linked(found, std::move(linked));
}

}  // namespace

core::Catalogue with_linked(const core::Catalogue& found, std::vector<core::PluginInfo> linked) {
  const std::size_t refused_before = found.refused().size();
  core::Catalogue all = found.with(std::move(linked));
  if (all.refused().size() > refused_before) {
    const core::RefusedPlugin& refused = all.refused()[refused_before];
    throw core::Refusal(refused.reason, refused.id + ": " + refused.message);
  }
  return all;
}

Runtime::Content::Content(const RuntimeOptions& options, const std::vector<Components>& own)
    : options_(options), catalogue_(scan(options, own)) {
  if (options.handle_crashes) crash_handlers_ = std::make_unique<core::CrashHandlers>();
}

core::ResolveRequest resolve_request(const std::filesystem::path& file,
                                     const std::vector<std::filesystem::path>& overlays,
                                     const std::vector<std::string>& sets, const core::Catalogue& catalogue) {
  core::ResolveRequest request;
  request.pipeline = file;
  request.overlays = overlays;
  request.sets = sets;
  request.parameters = [catalogue](std::string_view component) {
    const core::ComponentInfo* const info = catalogue.find(component);
    return info == nullptr ? nullptr : &info->parameters;
  };
  return request;
}

std::shared_ptr<const Pipeline::Content> read_pipeline(const core::ResolveRequest& request,
                                                       const core::Catalogue& catalogue, core::GraphRules rules,
                                                       std::string_view outcome) {
  core::Diagnostics findings;
  core::Resolved unbuilt = core::resolve(request, findings);
  core::GraphResult built;
  if (unbuilt.usable()) {
    built = core::build_graph(unbuilt, catalogue, findings, rules);
    findings.append(built.diagnostics);
  }
  findings.sort();
  require_no_error(findings, outcome);
  return std::make_shared<const Pipeline::Content>(Pipeline::Content{
      catalogue, std::move(unbuilt), std::move(built.resolved), std::move(built.graph.value()), told(findings)});
}

Runtime::Runtime(const RuntimeOptions& options, const std::vector<Components>& own) {
  guarded([&] { content_ = std::make_shared<Content>(options, own); });
}

Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;
Runtime::~Runtime() = default;

Pipeline Runtime::load(const std::filesystem::path& file, const PipelineOptions& options) const {
  return guarded([&] {
    std::vector<std::string> sets = options.sets;
    if (options.runs) sets.push_back("run.dir=" + core::Json(std::filesystem::absolute(*options.runs).string()).dump());
    core::ResolveRequest request = resolve_request(file, options.overlays, sets, content_->catalogue());
    request.text = options.text;
    // Files of first values need not be there when a checkpoint gives them: train() knows.
    return Pipeline(read_pipeline(request, content_->catalogue(), {.first_values = false}, "nothing was started"));
  });
}

std::vector<Diagnostic> Runtime::warnings() const {
  return guarded([&] {
    std::vector<Diagnostic> all;
    for (const std::string& warning : content_->catalogue().warnings()) {
      all.push_back({.severity = "warning", .code = "plugin-path", .message = warning});
    }
    for (const core::RefusedPlugin& refused : content_->catalogue().refused()) {
      all.push_back({.severity = "warning",
                     .code = refused.reason,
                     .message = refused.path.string() + ": " + refused.message,
                     .file = refused.path.string()});
    }
    return all;
  });
}

Pipeline::Pipeline(std::shared_ptr<const Content> content) noexcept : content_(std::move(content)) {}

const std::string& Pipeline::name() const noexcept { return content_->graph.name; }

std::string Pipeline::resolved() const {
  return guarded([&] { return core::canonical_text(content_->graph.resolved); });
}

const std::vector<Diagnostic>& Pipeline::warnings() const noexcept { return content_->warnings; }

}  // namespace tenon::kernel
