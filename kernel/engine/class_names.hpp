// What the whole numbers of a field stand for: the texts that a transform replaced, or classes that a dataset found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/storage/checkpoint.hpp>
#include <engine/components.hpp>

namespace tenon::engine {

/// Of a field, as the component of that node tells them; empty where it is a dataset that could know them and does not,
/// as one whose inputs disagree. Nothing where what it reads is to be asked: it cannot know any, or is a transform that
/// leaves the field alone. A dataset is open, a transform's state is known. \throws PlacedError. [trainer]
[[nodiscard]] std::optional<std::vector<std::string>> class_names(const Components& components, std::string_view node,
                                                                  std::string_view field);

/// Of all fields of the datasets that training and validation read, for the state of a checkpoint: {node: {field:
/// [text, …]}}, so that predictions need neither those datasets nor their files. Empty where no dataset knows any.
[[nodiscard]] core::Json trained_class_names(const Components& components);

/// What the former left in a checkpoint for a field; empty where it has nothing.
[[nodiscard]] std::vector<std::string> class_names(const core::Checkpoint& checkpoint, const std::string& node,
                                                   const std::string& field);

}  // namespace tenon::engine
