// What each field of the samples is in a picture.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <engine/data/image_layout.hpp>
#include <engine/data_show.hpp>

namespace tenon::host {

/// Positions of fields. The image is the first field that is one, with channels before one without.
struct SheetRoles {
  std::size_t image = 0;
  engine::ImageLayout layout;
  std::vector<std::size_t> masks;        ///< Integer [H, W].
  std::vector<std::size_t> boxes;        ///< float32 [n, 4].
  std::vector<std::size_t> box_classes;  ///< int64 [n].
  std::vector<std::size_t> captions;     ///< Texts, single numbers, and a few in a row.
};

/// Nothing where no field is an image.
[[nodiscard]] std::optional<SheetRoles> sheet_roles(const std::vector<engine::ShownField>& fields);

/// Numbers of a caption that are shown.
inline constexpr std::size_t kCaptionNumbers = 4;

/// True for integers and bool.
[[nodiscard]] bool counts_wholes(Dtype dtype) noexcept;

}  // namespace tenon::host
