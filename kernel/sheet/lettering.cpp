// OpenCV's line fonts, drawn four times too large and brought down, so that small letters are smooth and even.
#include <sheet/lettering.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <opencv2/imgproc.hpp>

namespace tenon::sheet {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr int kOver = 4;
constexpr double kCapital = 21.0;  // height of a capital at scale 1

double scale_of(const Lettering& lettering) { return kOver * lettering.height / kCapital; }

int thickness_of(const Lettering& lettering) {
  return std::max(1, static_cast<int>(std::lround(kOver * lettering.height * (lettering.bold ? 0.2 : 0.125))));
}

/// The letters of U+00C0 to U+017F without their accents; a blank where there is none such.
constexpr std::string_view kLetters =
    "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUu"
    "Uu"
    "WwYyYZzZzZzs";
static_assert(kLetters.size() == 0x180 - 0xC0);

/// The code point that begins at `at`, which goes on behind it.
uint32_t next_code_point(std::string_view utf8, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(utf8[at++]);
  uint32_t code = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1Fu : lead < 0xF0 ? lead & 0x0Fu : lead & 0x07u;
  while (at < utf8.size() && (static_cast<unsigned char>(utf8[at]) & 0xC0u) == 0x80u) {
    code = code << 6u | (static_cast<unsigned char>(utf8[at++]) & 0x3Fu);
  }
  return code;
}

}  // namespace

std::string drawable(std::string_view utf8) {
  std::string text;
  for (std::size_t at = 0; at < utf8.size();) {
    const uint32_t code = next_code_point(utf8, at);
    if (code >= 0x20 && code < 0x7F) {
      text += static_cast<char>(code);
    } else if (code >= 0xC0 && code < 0x180) {
      text += kLetters[code - 0xC0];
    } else if (code == 0xB7 || code == 0x2013 || code == 0x2014) {
      text += '-';
    } else if (code == 0xD7) {
      text += 'x';
    } else {
      text += code < 0x20 ? ' ' : '?';
    }
  }
  return text;
}

int width_of(const std::string& text, const Lettering& lettering) {
  int base = 0;
  const cv::Size size = cv::getTextSize(text, kFont, scale_of(lettering), thickness_of(lettering), &base);
  return (size.width + kOver - 1) / kOver;
}

std::string fitted(std::string text, int width, const Lettering& lettering) {
  const auto most = static_cast<std::size_t>(std::max(width, 0));  // every letter is wider than a pixel
  if (text.size() <= most && width_of(text, lettering) <= width) return text;
  std::size_t fits = 0;
  std::size_t too_long = std::min(text.size(), most) + 1;
  while (fits + 1 < too_long) {
    const std::size_t length = fits + (too_long - fits) / 2;
    (width_of(text.substr(0, length) + "...", lettering) <= width ? fits : too_long) = length;
  }
  text.resize(fits);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text + "...";
}

std::vector<std::string> wrapped(const std::string& text, int width, const Lettering& lettering) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = begin + 1;
    while (end < text.size() && width_of(text.substr(begin, end + 1 - begin), lettering) <= width) ++end;
    if (end < text.size()) {
      const std::size_t blank = text.rfind(' ', end);
      if (blank != std::string::npos && blank > begin) end = blank;
    }
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
    while (begin < text.size() && text[begin] == ' ') ++begin;
  }
  return lines;
}

void write(cv::Mat& picture, const std::string& text, cv::Point foot, const Lettering& lettering,
           const cv::Scalar& colour) {
  if (text.empty()) return;
  const int below = lettering.height;  // room for descenders
  const cv::Size size(width_of(text, lettering) + 2, 2 * lettering.height + below);
  cv::Mat large = cv::Mat::zeros(size * kOver, CV_8U);
  cv::putText(large, text, {kOver, (size.height - below) * kOver}, kFont, scale_of(lettering), 255,
              thickness_of(lettering), cv::LINE_AA);
  cv::Mat cover;
  cv::resize(large, cover, size, 0, 0, cv::INTER_AREA);
  const cv::Rect place(foot.x - 1, foot.y - size.height + below, size.width, size.height);
  const cv::Rect seen = place & cv::Rect(0, 0, picture.cols, picture.rows);
  for (int y = seen.y; y < seen.y + seen.height; ++y) {
    for (int x = seen.x; x < seen.x + seen.width; ++x) {
      const int share = cover.at<uint8_t>(y - place.y, x - place.x);
      auto& pixel = picture.at<cv::Vec3b>(y, x);
      for (int channel = 0; channel < 3; ++channel) {
        pixel[channel] = cv::saturate_cast<uint8_t>((pixel[channel] * (255 - share) + colour[channel] * share) / 255);
      }
    }
  }
}

}  // namespace tenon::sheet
