// Names with numbers in them.
#include <files/natural_order.hpp>

#include <algorithm>
#include <cstddef>

namespace tenon::datasets {

bool comes_before(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    return text.substr(0, end);
  };
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    std::string_view number_a = digits(rest_a);
    std::string_view number_b = digits(rest_b);
    if (number_a.empty() || number_b.empty()) {
      const auto byte_a = static_cast<unsigned char>(rest_a.front());
      const auto byte_b = static_cast<unsigned char>(rest_b.front());
      if (byte_a != byte_b) return byte_a < byte_b;
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
      continue;
    }
    rest_a.remove_prefix(number_a.size());
    rest_b.remove_prefix(number_b.size());
    number_a.remove_prefix(std::min(number_a.find_first_not_of('0'), number_a.size()));
    number_b.remove_prefix(std::min(number_b.find_first_not_of('0'), number_b.size()));
    if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
    if (number_a != number_b) return number_a < number_b;
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;  // "01.npy" and "1.npy"
}

}  // namespace tenon::datasets
