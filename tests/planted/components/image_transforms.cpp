// Transforms of images that look at a region alone, or at several samples: sound ones, and what may be wrong with them.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/multi_sample.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

using tenon::Array;
using tenon::Dtype;
using tenon::Extent;
using tenon::Port;
using tenon::Region;

/// A region of half the height and width, to all of whose pixels a draw is added.
class Cut : public tenon::Transform, public tenon::Cutting {
 public:
  explicit Cut(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() {
    return {{Port::of("image", {Dtype::kUint8}, {"H", "W"})},
            {Port::pass_all(), Port::of("image", {Dtype::kUint8}, {"h", "w"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static std::vector<std::string> abilities() { return {tenon::Cutting::kAbility}; }
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::Cutting*>(this) : nullptr;
  }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override {
    tenon::Spec out = in;
    tenon::FieldSpec& image = out.at(static_cast<std::size_t>(tenon::index_of(in, "image")));
    if (image.dtype != Dtype::kUint8 || image.shape.size() != 2) {
      throw tenon::Error(tenon::ErrorCode::kConfig, "\"image\" must be uint8[H, W], but is " + tenon::to_string(image));
    }
    image.shape = {"h", "w"};
    return out;
  }

  void apply(tenon::Sample& sample, tenon::Rng& random, const tenon::When& when) const override {
    const Array image = sample.at("image");
    const Region region = choose({image.shape[0], image.shape[1]}, random, when);
    write(sample, region, region.top, region.left, random);
  }

  [[nodiscard]] std::string_view cut_field() const noexcept override { return "image"; }
  [[nodiscard]] Region choose(const Extent& whole, tenon::Rng& random, const tenon::When& /*when*/) const override {
    const int64_t height = (whole.height + 1) / 2;
    const int64_t width = (whole.width + 1) / 2;
    return {random.integer(0, whole.height - height), random.integer(0, whole.width - width), height, width};
  }
  void apply_cut(tenon::Sample& sample, const Extent& /*whole*/, const Region& region, tenon::Rng& random,
                 const tenon::When& /*when*/) const override {
    write(sample, region, 0, 0, random);
  }

 protected:
  static void write(tenon::Sample& sample, const Region& region, int64_t top, int64_t left, tenon::Rng& random) {
    const Array image = sample.at("image");
    const tenon::Shape shape{region.height, region.width};
    const auto added = static_cast<uint8_t>(random.bits());
    auto* to = sample.allocate("image", Dtype::kUint8, shape).as<uint8_t>().data();
    for (int64_t row = top; row < top + region.height; ++row) {
      for (int64_t column = left; column < left + region.width; ++column) {
        *to++ = static_cast<uint8_t>(static_cast<uint8_t*>(image.data)[row * image.shape[1] + column] + added);
      }
    }
  }
};

/// Draws once more where it is given the region alone.
class DrawsAgain final : public Cut {
 public:
  using Cut::Cut;
  void apply_cut(tenon::Sample& sample, const Extent& /*whole*/, const Region& region, tenon::Rng& random,
                 const tenon::When& /*when*/) const override {
    random.bits();
    write(sample, region, 0, 0, random);
  }
};

/// The sum of three samples.
class Sum : public tenon::Transform, public tenon::MultiSample {
 public:
  explicit Sum(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() { return {{Port::any("x", {Dtype::kFloat32})}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {tenon::MultiSample::kAbility}; }
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::MultiSample*>(this) : nullptr;
  }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override {
    const tenon::FieldSpec& x = in.at(static_cast<std::size_t>(tenon::index_of(in, "x")));
    if (x.dtype == Dtype::kFloat32) return in;
    throw tenon::Error(tenon::ErrorCode::kConfig, "\"x\" must be float32, but is " + tenon::to_string(x));
  }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    throw tenon::Error(tenon::ErrorCode::kData, "takes further samples");
  }

  [[nodiscard]] int64_t others() const noexcept override { return 2; }
  void apply_with(tenon::Sample& sample, std::span<const tenon::Sample* const> others, tenon::Rng& /*random*/,
                  const tenon::When& /*when*/) const override {
    const Array x = sample.at("x");
    const auto out = sample.allocate("x", Dtype::kFloat32, x.shape).as<float>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = x.as<float>()[i];
      for (const tenon::Sample* const other : others) out[i] += other->at("x").as<float>()[i];
    }
  }
};

/// Leaves zeros in the further samples.
class ClearsOthers final : public Sum {
 public:
  using Sum::Sum;
  void apply_with(tenon::Sample& sample, std::span<const tenon::Sample* const> others, tenon::Rng& random,
                  const tenon::When& when) const override {
    Sum::apply_with(sample, others, random, when);
    for (const tenon::Sample* const other : others) {
      const Array x = other->at("x");
      std::memset(x.data, 0, x.bytes());
    }
  }
};

}  // namespace

TENON_COMPONENT(Cut, tenon::NoParams, "cut", "Keeps to the contract")
TENON_COMPONENT(DrawsAgain, tenon::NoParams, "draws_again", "Draws otherwise where it is given its region alone")
TENON_COMPONENT(Sum, tenon::NoParams, "sum", "Keeps to the contract")
TENON_COMPONENT(ClearsOthers, tenon::NoParams, "clears_others", "Changes further samples")
