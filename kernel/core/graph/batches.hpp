// Types of what a loader makes of its stream.
#pragma once

#include <vector>

#include <core/graph/draft.hpp>

namespace tenon::core {

/// Makes a batch's fields of a sample's, `in`, with lengths and masks, and holds the loader's parameters against them and
/// against the fields of the dataset that the stream begins with. `in_open`: there may be more than `in` tells.
void type_batches(Draft& draft, NodeId id, std::vector<TypedValue> in, bool in_open);

}  // namespace tenon::core
