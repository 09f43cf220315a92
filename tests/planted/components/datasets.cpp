// Datasets of images in memory: a sound one, and what may be wrong with their abilities.
#include <atomic>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/registration.hpp>

namespace {

using tenon::Dtype;
using tenon::Port;

constexpr int64_t kItems = 12;
constexpr int64_t kHeight = 5;
constexpr int64_t kWidth = 7;
constexpr std::size_t kBytes = 35;

/// Images and their labels, which can be viewed, read in part and told as a column, and have names.
class Images : public tenon::Dataset,
               public tenon::InMemory,
               public tenon::PartialRead,
               public tenon::Columns,
               public tenon::ItemNames {
 public:
  explicit Images(const tenon::NoParams& /*params*/) : pixels_(kItems * kBytes), labels_(kItems) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = static_cast<uint8_t>(i * 37 % 251);
    for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = static_cast<int64_t>(i % 3);
  }

  static tenon::Ports ports() {
    return {{}, {Port::of("image", {Dtype::kUint8}, {kHeight, kWidth}), Port::of("label", {Dtype::kInt64}, {})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() {
    return {tenon::InMemory::kAbility, tenon::PartialRead::kAbility, tenon::Columns::kAbility,
            tenon::ItemNames::kAbility};
  }

  void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == tenon::InMemory::kAbility) return static_cast<tenon::InMemory*>(this);
    if (wanted == tenon::PartialRead::kAbility) return static_cast<tenon::PartialRead*>(this);
    if (wanted == tenon::Columns::kAbility) return static_cast<tenon::Columns*>(this);
    if (wanted == tenon::ItemNames::kAbility) return static_cast<tenon::ItemNames*>(this);
    return nullptr;
  }

  [[nodiscard]] tenon::Spec spec() const override {
    return {{"image", Dtype::kUint8, {kHeight, kWidth}}, {"label", Dtype::kInt64, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return kItems; }
  [[nodiscard]] std::string fingerprint() const override { return "images-1"; }
  void read(int64_t index, tenon::Sample& out) const override { write(index, {0, 0, kHeight, kWidth}, out); }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    fields[0] = reinterpret_cast<const std::byte*>(image(index));
    fields[1] = reinterpret_cast<const std::byte*>(&labels_[static_cast<std::size_t>(index)]);
  }

  [[nodiscard]] std::string_view partial_field() const noexcept override { return "image"; }
  void read_part(int64_t index, const std::function<tenon::Region(tenon::Extent)>& choose,
                 tenon::Sample& out) const override {
    write(index, choose({kHeight, kWidth}), out);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field != "label") return std::nullopt;
    return std::vector<double>(labels_.begin(), labels_.end());
  }

  [[nodiscard]] std::string item_name(int64_t index) const override { return "image " + std::to_string(index); }

 protected:
  [[nodiscard]] const uint8_t* image(int64_t index) const noexcept {
    return pixels_.data() + static_cast<std::size_t>(index) * kBytes;
  }

  void write(int64_t index, const tenon::Region& region, tenon::Sample& out) const {
    const tenon::Shape shape{region.height, region.width};
    auto* const to = out.allocate("image", Dtype::kUint8, shape).as<uint8_t>().data();
    for (int64_t row = 0; row < region.height; ++row) {
      std::memcpy(to + row * region.width, image(index) + (region.top + row) * kWidth + region.left,
                  static_cast<std::size_t>(region.width));
    }
    out.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = labels_[static_cast<std::size_t>(index)];
  }

  std::vector<uint8_t> pixels_;
  std::vector<int64_t> labels_;
};

/// Shows the image of the item before.
class ViewsAnother final : public Images {
 public:
  using Images::Images;
  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    Images::view(index, fields);
    fields[0] = reinterpret_cast<const std::byte*>(image(index > 0 ? index - 1 : kItems - 1));
  }
};

/// Reads a region one column too far left.
class CutsBeside final : public Images {
 public:
  using Images::Images;
  void read_part(int64_t index, const std::function<tenon::Region(tenon::Extent)>& choose,
                 tenon::Sample& out) const override {
    tenon::Region region = choose({kHeight, kWidth});
    if (region.left > 0) --region.left;
    write(index, region, out);
  }
};

/// Tells the labels in another order.
class MixesLabels final : public Images {
 public:
  using Images::Images;
  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field != "label") return std::nullopt;
    return std::vector<double>(labels_.rbegin(), labels_.rend());
  }
};

/// Calls an item otherwise each time.
class RenamesItems final : public Images {
 public:
  using Images::Images;
  [[nodiscard]] std::string item_name(int64_t /*index*/) const override { return "image " + std::to_string(asked_++); }

 private:
  mutable std::atomic<int64_t> asked_ = 0;
};

}  // namespace

TENON_COMPONENT(Images, tenon::NoParams, "images", "Keeps to the contract")
TENON_COMPONENT(ViewsAnother, tenon::NoParams, "views_another", "Views another item than it reads")
TENON_COMPONENT(CutsBeside, tenon::NoParams, "cuts_beside", "Reads another region than it is asked for")
TENON_COMPONENT(MixesLabels, tenon::NoParams, "mixes_labels", "Has a column of another order than its items")
TENON_COMPONENT(RenamesItems, tenon::NoParams, "renames_items", "Calls its items otherwise each time")
