// Decoded images, kept for the tiles of them that are read next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <decode/raster.hpp>

namespace tenon::image_datasets {

/// What a file is known by: other contents of a path have other times, but for those written within a grain of these, some
/// milliseconds.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified = 0;  ///< In nanoseconds, as what follows.
  int64_t changed = 0;

  friend bool operator==(const FileState&, const FileState&) = default;
};

/// Images of files that are decoded whole, all but JPEG. It keeps those that were read last, as many as threads have read at
/// once, since each of these needs one anyway; threads that want the same image have it decoded once. All of it goes with
/// this object.
class KeptRasters {
 public:
  /// `indices`: as read_raster() has it.
  explicit KeptRasters(bool indices) : indices_(indices) {}

  /// Calls use(raster) with the image of a file, decoded anew unless it is kept and the file has not changed since. Of a
  /// file of JPEG it calls use_jpeg(bytes) in its place, and keeps nothing. `number` tells files apart.
  /// \throws Error (kData, kMemory, kStorage) without the file's name. [any thread]
  void read(std::size_t number, const std::string& path, const std::function<void(const Raster&)>& use,
            const std::function<void(Bytes)>& use_jpeg);

 private:
  struct Entry {
    std::size_t number = 0;
    FileState state;
    std::mutex decoding;
    std::shared_ptr<const Raster> raster;  // guarded by mutex_; empty until it is decoded
  };

  class Reading;

  /// The image of a file in that state; nullptr where it is not kept.
  std::shared_ptr<const Raster> kept(std::size_t number, const FileState& state);

  /// Where it is to be kept, first of all from now on.
  std::shared_ptr<Entry> entry_of(std::size_t number, const FileState& state);

  /// Decodes it unless another thread did.
  std::shared_ptr<const Raster> decoded(Entry& entry, Bytes file, Format format);

  std::list<std::shared_ptr<Entry>>::iterator find(std::size_t number, const FileState& state);

  bool indices_;
  std::mutex mutex_;
  std::size_t reading_ = 0;                    // threads
  std::size_t most_ = 0;                       // that have read at once
  std::list<std::shared_ptr<Entry>> entries_;  // read last first
};

}  // namespace tenon::image_datasets
