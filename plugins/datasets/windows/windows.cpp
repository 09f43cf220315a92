// dataset:windows: stretches of recordings, and what follows them.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <csv/rules.hpp>
#include <files/content_hash.hpp>
#include <files/numbers.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>
#include <windows/params.hpp>
#include <windows/recordings.hpp>

namespace tenon::datasets {

/// No window reaches over the end of its recording. Overlapping ones share their memory.
class Windows final : public Dataset, public InMemory, public Columns, public Remarks {
 public:
  explicit Windows(WindowsParams params)
      : params_(std::move(params)), stride_(params_.stride.value_or(params_.length)) {
    require_delimiter(params_.delimiter);
    for (std::size_t i = 0; i < params_.fields.size(); ++i) declare(params_.fields[i], "/fields/" + std::to_string(i));
  }

  static Ports ports() { return {{}, {Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {InMemory::kAbility, Columns::kAbility, Remarks::kAbility}; }
  static Example example() {
    return {.params = R"({"path": "walk.csv", "group": "who", "length": 2, "stride": 1, "horizon": 1, "fields": [
                          {"name": "x", "columns": ["left", "right"]},
                          {"name": "next", "part": "ahead", "column": "left"},
                          {"name": "label", "part": "last", "dtype": "int64"}]})",
            .files = {{"walk.csv",
                       "who,left,right,label\na,1,2,0\na,2,3,0\na,3,4,1\nb,5,6,1\nb,6,7,1\nb,7,8,0\nb,8,9,0\n"}},
            .inputs = {}};
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    if (wanted == Remarks::kAbility) return static_cast<Remarks*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec() const override { return spec_; }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "reads files and takes no input: remove \"in\"");
    recordings_.open(params_, steps_);
    const int64_t takes = params_.length + params_.horizon;
    int64_t longest = 0;
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      const int64_t length = recordings_.length(i);
      begins_.push_back(size_);
      size_ += length < takes ? 0 : (length - takes) / stride_ + 1;
      short_ += length < takes ? 1 : 0;
      longest = std::max(longest, length);
    }
    if (size_ == 0) {
      throw Error(ErrorCode::kData,
                  params_.path.string() + ": the longest of " + std::to_string(recordings_.size()) +
                      (recordings_.size() == 1 ? " recording has " : " recordings has ") + std::to_string(longest) +
                      " steps, and a window takes length + horizon = " + std::to_string(takes),
                  "/length");
    }
    fingerprint_ = "windows-1:" + std::to_string(size_) + ":" + std::to_string(params_.length) + ":" +
                   std::to_string(stride_) + ":" + std::to_string(params_.horizon);
    for (std::size_t i = 0; i < spec_.size(); ++i) {
      fingerprint_ += ":" + spec_[i].name + " " + to_string(spec_[i]) + " " +
                      tenon_enum_names(params_.fields[i].part).names[static_cast<std::size_t>(params_.fields[i].part)];
    }
    fingerprint_ += ":" + hex(recordings_.hash());
  }

  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  void read(int64_t index, Sample& out) const override {
    for (std::size_t i = 0; i < spec_.size(); ++i) {
      const Array to = out.allocate(static_cast<int>(i), steps_[i].dtype, shapes_[i]);
      if (to.bytes() > 0) std::memcpy(to.data, place(index, i), to.bytes());
    }
  }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    for (std::size_t i = 0; i < spec_.size(); ++i) fields[i] = place(index, i);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    const FieldSpec* const found = find(spec_, field);
    if (found == nullptr || !found->shape.empty() || !has_numbers(found->dtype)) return std::nullopt;
    std::vector<double> numbers;
    numbers.reserve(static_cast<std::size_t>(size_));
    const auto position = static_cast<std::size_t>(found - spec_.data());
    for (int64_t i = 0; i < size_; ++i) numbers.push_back(number_at(place(i, position), found->dtype));
    return numbers;
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    if (short_ == 0) return {};
    return {params_.path.string() + ": " + std::to_string(short_) + " of " + std::to_string(recordings_.size()) +
            " recordings are shorter than length + horizon = " + std::to_string(params_.length + params_.horizon) +
            " steps and give no window"};
  }

 private:
  void declare(const WindowsField& field, const std::string& pointer) {
    const auto refuse = [&](const std::string& why, const std::string& at) {
      throw Error(ErrorCode::kConfig, why, pointer + at);
    };
    if (find(spec_, field.name) != nullptr) {
      refuse("\"" + field.name + "\" is the name of another field already", "/name");
    }
    const bool is_one_step = field.part == WindowsPart::kLast || field.part == WindowsPart::kThen;
    if ((field.part == WindowsPart::kAhead || field.part == WindowsPart::kThen) && params_.horizon == 0) {
      refuse("is of the steps ahead, of which there are none: give \"horizon\"", "/part");
    }
    require_one_way(field.column, field.columns, false, pointer);
    Shape step = field.shape;
    if (!field.columns.empty()) step.push_back(static_cast<int64_t>(field.columns.size()));
    Shape shape = step;
    if (!is_one_step) {
      shape.insert(shape.begin(), field.part == WindowsPart::kWindow ? params_.length : params_.horizon);
    }
    const NpySample declared = declared_sample(field.dtype, shape, pointer);
    spec_.push_back({field.name, declared.dtype, {shape.begin(), shape.end()}});
    step_bytes_.push_back(size_of(declared.dtype) * static_cast<std::size_t>(elements(step)));
    steps_.push_back({declared.dtype, std::move(step)});
    shapes_.push_back(std::move(shape));
  }

  /// Where a field of a window lies.
  [[nodiscard]] const std::byte* place(int64_t index, std::size_t field) const noexcept {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end(), index);
    const auto recording = static_cast<std::size_t>(behind - begins_.begin()) - 1;
    int64_t step = (index - begins_[recording]) * stride_;
    switch (params_.fields[field].part) {
      case WindowsPart::kWindow: break;
      case WindowsPart::kAhead: step += params_.length; break;
      case WindowsPart::kLast: step += params_.length - 1; break;
      case WindowsPart::kThen: step += params_.length + params_.horizon - 1; break;
    }
    return recordings_.at(field, recording) + static_cast<std::size_t>(step) * step_bytes_[field];
  }

  WindowsParams params_;
  int64_t stride_;
  Spec spec_;
  std::vector<Shape> shapes_;  // of the fields
  std::vector<NpySample> steps_;
  std::vector<std::size_t> step_bytes_;
  Recordings recordings_;
  std::vector<int64_t> begins_;  // index of the first window of each recording
  int64_t size_ = 0;
  int64_t short_ = 0;
  std::string fingerprint_;
};

TENON_COMPONENT(Windows, WindowsParams, "windows",
                "Windows over recordings, with stride and horizon, never across them")

}  // namespace tenon::datasets
