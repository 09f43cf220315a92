// Unpacking with zlib.
#include <files/gzip.hpp>

#include <zlib.h>

#include <algorithm>
#include <limits>

#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;

class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) throw Error(ErrorCode::kMemory, "zlib cannot be started");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::span<const std::byte> data) noexcept {
  return data.size() >= 2 && data[0] == std::byte{0x1F} && data[1] == std::byte{0x8B};
}

std::vector<std::byte> gunzip(std::span<const std::byte> data, const std::string& name, const std::string& pointer) {
  const auto fail = [&](const std::string& why) { throw Error(ErrorCode::kData, name + ": " + why, pointer); };
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::vector<std::byte> unpacked;
  std::size_t size = 0;
  std::size_t read = 0;
  bool member_ended = false;
  while (!member_ended || read < data.size()) {
    if (member_ended) {
      if (!is_gzip(data.subspan(read))) fail(std::to_string(data.size() - read) + " bytes lie behind the gzip data");
      ::inflateReset(&stream);
    }
    if (size == unpacked.size()) unpacked.resize(std::max(size + kChunk, size + size / 2));
    const std::size_t input = std::min<std::size_t>(data.size() - read, std::numeric_limits<uInt>::max());
    const std::size_t output = std::min<std::size_t>(unpacked.size() - size, std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data() + read));  // zlib does not write there
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data() + size);
    stream.avail_out = static_cast<uInt>(output);
    const int verdict = ::inflate(&stream, Z_NO_FLUSH);
    read += input - stream.avail_in;
    size += output - stream.avail_out;
    member_ended = verdict == Z_STREAM_END;
    if (verdict == Z_MEM_ERROR) throw Error(ErrorCode::kMemory, "not enough memory to unpack " + name);
    if (verdict == Z_BUF_ERROR || (verdict == Z_OK && read == data.size() && stream.avail_out > 0)) {
      fail("its gzip data is cut off after " + std::to_string(data.size()) + " bytes: get the file again");
    }
    if (verdict != Z_OK && !member_ended) {
      fail(std::string("its gzip data is damaged (") + (stream.msg == nullptr ? "unknown" : stream.msg) +
           "): get the file again");
    }
  }
  unpacked.resize(size);
  return unpacked;
}

}  // namespace tenon::datasets
