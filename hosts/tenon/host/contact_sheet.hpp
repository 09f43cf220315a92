// Samples as a picture, or as a table where they hold no image.
#pragma once

#include <optional>
#include <string>

#include <engine/data_show.hpp>
#include <host/console.hpp>
#include <sheet/sheet.hpp>

namespace tenon::host {

/// The samples as tiles: the first field that is an image, with integer fields of its size as masks, float32 [n, 4] as
/// boxes, and single numbers and texts below. Numbers that are no bytes are brought to 0 … 255 alike in all tiles: from
/// 0 … 1 or from 0 … 255 where all lie there, else from the least to the greatest. Nothing where no field is an image.
[[nodiscard]] std::optional<sheet::Sheet> contact_sheet(const engine::DataShown& shown);

/// A line for each sample: texts as texts, of other fields the first numbers.
[[nodiscard]] std::string sample_table(const engine::DataShown& shown, const Console& console);

}  // namespace tenon::host
