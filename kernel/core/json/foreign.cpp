// Marks of other files and look-alikes.
#include <core/json/foreign.hpp>

#include <algorithm>
#include <array>

namespace tenon::core {
namespace {

constexpr std::array<LookAlike, 9> kLookAlikes{{{"\xC2\xA0", "a no-break space (U+00A0)", "write an ordinary blank"},
                                                {"\xE2\x80\x8B", "an invisible character (U+200B)", "remove it"},
                                                {"\xEF\xBB\xBF", "a byte order mark within the text", "remove it"},
                                                {"\xE2\x80\x9C", "a typographic quote (U+201C)", "write \""},
                                                {"\xE2\x80\x9D", "a typographic quote (U+201D)", "write \""},
                                                {"\xE2\x80\x9E", "a typographic quote (U+201E)", "write \""},
                                                {"\xE2\x80\x98", "a typographic quote (U+2018)", "write \""},
                                                {"\xE2\x80\x99", "a typographic quote (U+2019)", "write \""},
                                                {"\xEF\xBC\x8C", "a full-width comma (U+FF0C)", "write ,"}}};

}  // namespace

const LookAlike* find_look_alike(std::string_view text) noexcept {
  const auto* const found = std::find_if(kLookAlikes.begin(), kLookAlikes.end(), [&](const LookAlike& each) {
    return text.substr(0, each.bytes.size()) == each.bytes;
  });
  return found == kLookAlikes.end() ? nullptr : found;
}

std::string_view binary_reason(std::string_view text) noexcept {
  if (text.substr(0, 4) == "\177ELF") return "it is a program or a shared library";
  if (text.substr(0, 4) == "PK\x03\x04") return "it is a ZIP archive, such as a TorchScript file";
  if (text.substr(0, 2) == "\x1F\x8B") return "it is compressed with gzip";
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF") return "it is UTF-16; save it as UTF-8";
  if (text.find('\0') != std::string_view::npos) return "it has zero bytes";
  return {};
}

}  // namespace tenon::core
