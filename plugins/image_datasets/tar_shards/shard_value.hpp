// From the bytes of a file of a sample to the value of a field.
#pragma once

#include <cstddef>
#include <span>

#include <tar_shards/params.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::image_datasets {

/// Extensions in small letters: those of the parameters, or the usual ones.
[[nodiscard]] std::vector<std::string> extensions_of(const ShardField& field);

/// The field of a type other than image.
[[nodiscard]] FieldSpec value_field(const ShardField& field);

/// The number of an integer or number field. \throws Error (kData) that says what is wrong, without a name.
/// [any thread]
[[nodiscard]] int64_t integer_of(const ShardField& field, std::span<const std::byte> file);
[[nodiscard]] double number_of(const ShardField& field, std::span<const std::byte> file);

/// Writes the value of a field that is no image to its position in the sample. \throws Error (kData) likewise.
/// [any thread]
void write_value(const ShardField& field, std::span<const std::byte> file, int position, Sample& out);

}  // namespace tenon::image_datasets
