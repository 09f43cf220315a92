// Values of samples as short texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <engine/data_show.hpp>

namespace tenon::host {

/// The elements as numbers, at most `most` of them and those that are kept; 16-bit floating types are widened.
[[nodiscard]] std::vector<double> numbers_of(const FieldSpec& field, const engine::ShownValue& value, std::size_t most);

/// A value for people: "cat", "3", "0.5317", a text as it is, "0.12 0.5 … (64)" for many numbers.
[[nodiscard]] std::string value_text(const engine::ShownField& field, const engine::ShownValue& value,
                                     std::size_t most_numbers);

/// True for bytes of no fixed number, as which texts come.
[[nodiscard]] bool is_text(const FieldSpec& field) noexcept;

}  // namespace tenon::host
