// The closed form of affine maps; OpenCV solves for perspectives.
#include <support/matrices.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <opencv2/imgproc.hpp>

#include <support/opencv.hpp>

namespace tenon::image_transforms {
namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

Matrix translation(double x, double y) { return {1, 0, x, 0, 1, y, 0, 0, 1}; }

}  // namespace

Matrix affine_matrix(const Affine& affine, const Extent& extent) {
  const double turn = radians(affine.degrees);
  const double x = radians(affine.shear_x);
  const double y = radians(affine.shear_y);
  // Rotation · shear along y · shear along x, of determinant 1.
  const double a = std::cos(turn - y) / std::cos(y);
  const double b = -std::cos(turn - y) * std::tan(x) / std::cos(y) - std::sin(turn);
  const double c = std::sin(turn - y) / std::cos(y);
  const double d = -std::sin(turn - y) * std::tan(x) / std::cos(y) + std::cos(turn);
  const Matrix inverted{d / affine.scale, -b / affine.scale, 0, -c / affine.scale, a / affine.scale, 0, 0, 0, 1};
  const double center_x = static_cast<double>(extent.width - 1) / 2 + affine.center_x;
  const double center_y = static_cast<double>(extent.height - 1) / 2 + affine.center_y;
  return product(translation(center_x, center_y),
                 product(inverted, translation(-center_x - affine.right, -center_y - affine.down)));
}

std::optional<Matrix> perspective_matrix(const std::array<Point, 4>& corners, const Extent& extent) {
  const auto right = static_cast<float>(extent.width - 1);
  const auto bottom = static_cast<float>(extent.height - 1);
  const std::array<cv::Point2f, 4> from{cv::Point2f(0, 0), {right, 0}, {right, bottom}, {0, bottom}};
  std::array<cv::Point2f, 4> to;
  std::transform(corners.begin(), corners.end(), to.begin(), [](const Point& point) {
    return cv::Point2f(static_cast<float>(point.x), static_cast<float>(point.y));
  });
  Matrix solved{};
  with_opencv([&] {
    const cv::Mat found = cv::getPerspectiveTransform(to.data(), from.data());
    std::copy_n(found.ptr<double>(), 9, solved.begin());
  });
  // The corners count from the edge of the image, pixels of a map from their centres.
  const Matrix matrix = product(translation(-0.5, -0.5), product(solved, translation(0.5, 0.5)));
  const bool finite = std::all_of(matrix.begin(), matrix.end(), [](double each) { return std::isfinite(each); });
  if (!finite || !inverse(matrix)) return std::nullopt;
  return matrix;
}

}  // namespace tenon::image_transforms
