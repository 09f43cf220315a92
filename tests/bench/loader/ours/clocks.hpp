// Time and memory of this process.
#pragma once

namespace tenon::bench {

/// Seconds since some moment.
[[nodiscard]] double now();

/// Processor seconds of all threads so far.
[[nodiscard]] double processor_seconds();

/// Processor seconds of this thread so far.
[[nodiscard]] double thread_seconds();

/// Keeps a core busy until this thread has used so many seconds of it.
void spin(double seconds);

/// Proportional resident memory, MB of 2^20 bytes.
[[nodiscard]] double resident_megabytes();

}  // namespace tenon::bench
