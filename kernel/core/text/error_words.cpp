// The words.
#include <core/text/error_words.hpp>

namespace tenon::core {

std::string_view error_word(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kConfig: return "config";
    case ErrorCode::kPlugin: return "plugin";
    case ErrorCode::kData: return "data";
    case ErrorCode::kDiverged: return "diverged";
    case ErrorCode::kMemory: return "out-of-memory";
    case ErrorCode::kDistributed: return "distributed";
    case ErrorCode::kVerification: return "verification";
    case ErrorCode::kCheckpoint: return "checkpoint";
    case ErrorCode::kStorage: return "storage";
  }
  return "config";
}

}  // namespace tenon::core
