// log.jsonl cut back to the moment at which a checkpoint was written.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tenon::core {

/// Makes the log end where the checkpoint of `step` was written: all lines up to and including the last "checkpoint"
/// event of that step stay, what is behind them goes to log.cut-0001.jsonl (the next free number) beside it. Without
/// such a line, because a kill came between checkpoint and line, the lines of steps up to `step` stay, and the result
/// is false. A torn last line is dropped. A log that ends there already, or is not there, is left alone. Both files are
/// replaced atomically, what is cut first: a kill in between leaves lines twice, never lost. One line is in memory at a
/// time. \throws Error (kStorage). [one process: the owner of the run]
bool cut_log(const std::filesystem::path& log, int64_t step);

/// Writes to `copy` what cut_log() would leave of `log`, which stays as it is. The same result. \throws Error
/// (kStorage).
bool copy_log(const std::filesystem::path& log, const std::filesystem::path& copy, int64_t step);

}  // namespace tenon::core
