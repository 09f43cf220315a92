// Files are known by their state, so that a tile of a kept image costs no more of the file than a call of stat().
#include <tiles/kept_rasters.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include <decode/format.hpp>
#include <files/unreadable.hpp>
#include <index/image_file.hpp>

namespace tenon::image_datasets {
namespace {

FileState state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw datasets::unreadable({}, errno);
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_nsec};
  };
  return {status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

/// Pixels may lie within the file, which is gone when the next one is read.
Raster with_own_memory(Raster raster) {
  if (raster.memory) return raster;
  const std::size_t values = raster.pixels.row_values * static_cast<std::size_t>(raster.pixels.extent.height);
  const auto* const from = static_cast<const std::byte*>(raster.pixels.data);
  const auto copy = std::make_shared<std::vector<std::byte>>(from, from + values * (raster.pixels.wide ? 2 : 1));
  raster.pixels.data = copy->data();
  raster.memory = copy;
  return raster;
}

}  // namespace

/// Counts the threads that read.
class KeptRasters::Reading {
 public:
  explicit Reading(KeptRasters& of) : of_(of) {
    const std::scoped_lock lock(of_.mutex_);
    of_.most_ = std::max(of_.most_, ++of_.reading_);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    const std::scoped_lock lock(of_.mutex_);
    --of_.reading_;
  }

 private:
  KeptRasters& of_;
};

void KeptRasters::read(std::size_t number, const std::string& path, const std::function<void(const Raster&)>& use,
                       const std::function<void(Bytes)>& use_jpeg) {
  const Reading reading(*this);
  // Of before the file is read: where it changes meanwhile, its next state is another one.
  const FileState state = state_of(path);
  if (const auto raster = kept(number, state)) return use(*raster);
  const Bytes file = file_bytes(path);
  const Format format = require_image(file);
  if (format == Format::kJpeg) return use_jpeg(file);
  use(*decoded(*entry_of(number, state), file, format));
}

/// With the lock. What it finds is the first from now on.
std::list<std::shared_ptr<KeptRasters::Entry>>::iterator KeptRasters::find(std::size_t number, const FileState& state) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const std::shared_ptr<Entry>& each) {
    return each->number == number && each->state == state;
  });
  if (found != entries_.end()) entries_.splice(entries_.begin(), entries_, found);
  return found;
}

std::shared_ptr<const Raster> KeptRasters::kept(std::size_t number, const FileState& state) {
  const std::scoped_lock lock(mutex_);
  const auto found = find(number, state);
  return found == entries_.end() ? nullptr : (*found)->raster;
}

std::shared_ptr<KeptRasters::Entry> KeptRasters::entry_of(std::size_t number, const FileState& state) {
  std::list<std::shared_ptr<Entry>> dropped;  // goes when the lock is gone
  const std::scoped_lock lock(mutex_);
  const auto found = find(number, state);
  if (found != entries_.end()) return *found;
  auto entry = std::make_shared<Entry>();
  entry->number = number;
  entry->state = state;
  entries_.push_front(entry);
  while (entries_.size() > most_) dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  return entry;
}

std::shared_ptr<const Raster> KeptRasters::decoded(Entry& entry, Bytes file, Format format) {
  const std::scoped_lock alone(entry.decoding);
  {
    const std::scoped_lock lock(mutex_);
    if (entry.raster) return entry.raster;
  }
  auto raster = std::make_shared<const Raster>(with_own_memory(read_raster(file, format, indices_)));
  const std::scoped_lock lock(mutex_);
  entry.raster = raster;
  return raster;
}

}  // namespace tenon::image_datasets
