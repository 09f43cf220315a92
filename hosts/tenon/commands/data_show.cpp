// tenon data show: samples as training gets them, as a picture.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/atomic_file.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/contact_sheet.hpp>
#include <host/data_paths.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/remarks.hpp>
#include <host/run_summary.hpp>
#include <host/sample_reduction.hpp>
#include <host/sheet_library.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

constexpr int64_t kMostTiles = 1024;

/// "train of digits"; "train_set, epoch 3, the first 64 of 1198 samples".
void add_titles(sheet::Sheet& sheet, const engine::DataShown& shown, const std::string& pipeline,
                const engine::DataShowRequest& request) {
  sheet.title = fmt::format("{} of {}", spoken_path(request.path), pipeline);
  sheet.subtitle = fmt::format("{}, epoch {}: {}{}", shown.dataset, request.epoch,
                               shown.samples.size() < static_cast<std::size_t>(shown.size) ? "the first " : "",
                               counted(shown.samples.size(), "sample"));
  if (shown.samples.size() < static_cast<std::size_t>(shown.size)) sheet.subtitle += fmt::format(" of {}", shown.size);
  if (!shown.left_out.empty()) sheet.subtitle += fmt::format(", before {}", fmt::join(shown.left_out, ", "));
}

/// What the model gets is not yet what is seen.
void tell_left_out(const engine::DataShown& shown, Console& console) {
  if (shown.left_out.empty()) return;
  const bool one = shown.left_out.size() == 1;
  console.report(
      core::Severity::kNote, "",
      fmt::format("samples are shown as the loader puts them into a batch: what \"{}\" {} to batches behind it "
                  "is left out",
                  fmt::join(shown.left_out, "\", \""), one ? "does" : "do"));
}

/// The name of another picture's format would be a lie. \throws UsageError.
void require_png(const std::filesystem::path& file, const Command& command) {
  constexpr std::array<std::string_view, 10> kOthers{".jpg",  ".jpeg", ".gif", ".bmp", ".tif",
                                                     ".tiff", ".webp", ".svg", ".pdf", ".ppm"};
  std::string ending = file.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (std::ranges::find(kOthers, ending) == kOthers.end()) return;
  throw UsageError({fmt::format("--out {}: the picture is a PNG; name it {}", file.string(),
                                std::filesystem::path(file).replace_extension(".png").string())},
                   &command);
}

int draw(const sheet::Sheet& sheet, const engine::DataShown& shown, const std::filesystem::path& file,
         Console& console) {
  const std::vector<std::byte> png = open_painter().png(sheet);
  const std::string_view bytes(reinterpret_cast<const char*>(png.data()), png.size());
  if (file == "-") {
    console.print(bytes);
    return 0;
  }
  core::write_atomically(file, bytes, core::kOutOption);
  console.print(
      fmt::format("{}: {} of \"{}\"\n", short_path(file), counted(shown.samples.size(), "sample"), shown.dataset));
  return 0;
}

int data_show(const Arguments& arguments, Console& console) {
  const int64_t count = arguments.whole_value("count", 64, 1, kMostTiles);
  const int64_t epoch = arguments.whole_value("epoch", 0, 0, int64_t{1} << 31);
  const std::optional<std::string> out = arguments.value("out");
  if (out == "-" && isatty(STDOUT_FILENO) == 1) {
    throw UsageError({"--out - would write a picture to the terminal: name a file, or lead standard output elsewhere"},
                     &arguments.command());
  }
  if (out && out->empty()) throw UsageError({"--out needs the name of a file, or -"}, &arguments.command());
  if (out) require_png(*out, arguments.command());
  std::vector<std::string> sets;
  if (arguments.has("seed")) {
    sets.push_back(fmt::format("run.seed={}", arguments.whole_value("seed", 0, 0, int64_t{1} << 53)));
  }
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(arguments.operands().front(), arguments, catalogue, sets);
  console.report(pipeline.findings, "nothing was read");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  const std::vector<std::string> paths = chosen_paths(arguments, *pipeline.graph);

  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was read");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const std::string name = pipeline.graph->name;
  const engine::DataShowRequest request{.graph = std::move(*pipeline.graph),
                                        .resolved = std::move(pipeline.resolved),
                                        .catalogue = std::move(catalogue),
                                        .path = paths.front(),
                                        .count = count,
                                        .epoch = epoch,
                                        .remark = notes_to(console),
                                        .reduce = SampleReduction(count)};
  const engine::DataShown shown = opened.engine->show_data(request);
  tell_left_out(shown, console);
  std::optional<sheet::Sheet> sheet = contact_sheet(shown);
  if (!sheet) {
    if (out) {
      throw UsageError({fmt::format("no field of the samples is an image: there is nothing to draw into {}; without "
                                    "--out they are listed",
                                    *out == "-" ? "a picture" : *out)},
                       &arguments.command());
    }
    console.print(sample_table(shown, console));
    return 0;
  }
  add_titles(*sheet, shown, name, request);
  return draw(*sheet, shown, out.value_or(fmt::format("{}-{}.png", name, spoken_path(request.path))), console);
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    {.name = "on",
     .value = "train|validate|test|predict|NAME",
     .help = "whose samples: train without it; the first of several validations,\n"
             "or one by its name, such as validate.clean"},
    {.name = "count", .value = "N", .help = "the first N samples of the epoch; 64 without it"},
    {.name = "epoch", .value = "N", .help = "order and augmentation of this epoch, counted from 0, the default"},
    {.name = "seed", .value = "N", .help = "short for --set run.seed=N"},
    {.name = "out",
     .value = "FILE",
     .help = "where the picture, a PNG, goes: PIPELINE-PART.png without it;\n"
             "- is standard output"},
    kOverlayOption,
    kSetOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "shown"},
    {2, "the pipeline or the command line is wrong"},
    {3, "a plugin, libtorch or OpenCV cannot be used, or a plugin failed"},
    {4, "data is missing or damaged, or a sample takes longer than \"sample_timeout\""},
    {6, "out of memory"},
    {10, "the picture cannot be written"},
};
constexpr Command kDataShow{
    .name = "data show",
    .group = Group::kUnderstand,
    .summary = "show samples as training gets them, as a picture",
    .purpose =
        "Makes the first samples of an epoch as the loader does, in its order and with the random numbers that "
        "training has there, and draws them on one sheet (PNG) with their labels: names of classes where they are "
        "known, masks "
        "laid over, boxes drawn. What a transform normalised is brought back first. A sample that cannot be made "
        "shows why in its place. Transforms of batches, behind the loader, are left out, and a note says which. Large "
        "images are made smaller before the next one is read, so that memory stays small.\n"
        "Samples without an image are listed as text: texts as texts, of other fields the first numbers.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon data show digits.json\n"
        "tenon data show digits.json --on validate --count 16 --out samples.png\n"
        "tenon data show digits.json --epoch 5 --out - > epoch5.png",
    .exit_codes = kExitCodes,
    .run = &data_show,
};
TENON_COMMAND(kDataShow);

}  // namespace
}  // namespace tenon::host
