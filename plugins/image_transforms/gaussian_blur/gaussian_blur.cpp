// transform:gaussian_blur: blurs an image by a random width.
#include <algorithm>
#include <string>

#include <opencv2/imgproc.hpp>

#include <support/colouring.hpp>
#include <support/grow.hpp>
#include <support/opencv.hpp>
#include <support/ranges.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct GaussianBlurParams {
  std::string image = "image";
  int64_t kernel_size = 0;
  std::vector<double> sigma{0.1, 2};
  int64_t grow = 0;

  TENON_PARAMS(GaussianBlurParams, image_field<GaussianBlurParams>(),
               tenon::field(&GaussianBlurParams::kernel_size, "kernel_size",
                            "Side of the square that a pixel is blurred over, pixels; odd")
                   .min(1)
                   .max(255)
                   .required(),
               tenon::field(&GaussianBlurParams::sigma, "sigma", "Least and largest standard deviation, pixels")
                   .above(0)
                   .max(1000)
                   .min_items(2),
               grow_field<GaussianBlurParams>())
};

class GaussianBlur final : public Colouring {
 public:
  explicit GaussianBlur(const GaussianBlurParams& params)
      : Colouring(params.image),
        side_(static_cast<int>(params.kernel_size)),
        sigma_(range_of(params.sigma, "/sigma")),
        grow_(params.grow) {
    if (side_ % 2 == 0) {
      throw Error(ErrorCode::kConfig, "the side must be odd, so that there is a pixel in the middle", "/kernel_size");
    }
  }

  static Example example() { return {R"({"kernel_size": 3})", {}, {}}; }

  /// One draw. All channels are blurred, alpha too. Pixels beyond the image are those within, mirrored at its outermost
  /// pixels. While the strength grows, the largest width rises from the least one.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    const double sigma = narrowed(sigma_, sigma_.low, strength(grow_, when)).draw(random);
    const View image = in(sample);
    with_opencv([&] {
      cv::Mat target = mat(out(sample, image));
      cv::GaussianBlur(mat(image), target, cv::Size(side_, side_), sigma, sigma, cv::BORDER_REFLECT_101);
    });
  }

 private:
  int side_;
  Range sigma_;
  int64_t grow_;
};

TENON_COMPONENT(GaussianBlur, GaussianBlurParams, "gaussian_blur", "Blurs an image by a random width")

}  // namespace tenon::image_transforms
