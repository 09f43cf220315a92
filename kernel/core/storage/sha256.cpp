// SHA-256 through OpenSSL.
#include <core/storage/sha256.hpp>

#include <array>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

void require_success(int result) {
  if (result != 1) throw Error(ErrorCode::kStorage, "OpenSSL cannot compute SHA-256 on this machine");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require_success(context_ != nullptr ? EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) : 0);
}

void Sha256::update(std::span<const std::byte> bytes) {
  require_success(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::digest() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  require_success(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size));
  require_success(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    fmt::format_to(std::back_inserter(text), "{:02x}", bytes[i]);
  }
  return text;
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.digest();
}

std::string sha256_file(const std::filesystem::path& path) {
  const OpenedFile opened = open_for_reading(path, ErrorCode::kCheckpoint);
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  Sha256 hash;
  for (uint64_t offset = 0; offset < opened.size; offset += buffer.size()) {
    const auto piece =
        std::span(buffer).first(static_cast<std::size_t>(std::min<uint64_t>(buffer.size(), opened.size - offset)));
    read_at(opened.file, offset, piece, path, ErrorCode::kCheckpoint);
    hash.update(piece);
  }
  return hash.digest();
}

}  // namespace tenon::core
