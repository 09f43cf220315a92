// SHA-256 of bytes and files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace tenon::core {

/// An incremental hash. One thread at a time.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text.data(), text.size()))); }

  /// 64 lower-case hex digits; the object starts afresh.
  [[nodiscard]] std::string digest();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

[[nodiscard]] std::string sha256(std::string_view text);

/// Hash of a file's content. \throws Error (kCheckpoint) for a file that cannot be read.
[[nodiscard]] std::string sha256_file(const std::filesystem::path& path);

}  // namespace tenon::core
