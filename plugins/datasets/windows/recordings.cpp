// From folders of .npy files and from tables.
#include <windows/recordings.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <csv/column.hpp>
#include <csv/table.hpp>
#include <files/content_hash.hpp>
#include <files/natural_order.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::datasets {
namespace {

namespace fs = std::filesystem;

std::size_t bytes_of(const NpySample& step) {
  return size_of(step.dtype) * static_cast<std::size_t>(elements(step.shape));
}

std::string pointer_of(std::size_t field) { return "/fields/" + std::to_string(field); }

std::vector<std::string> npy_files(const fs::path& folder, const std::string& pointer) {
  std::vector<std::string> names;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".npy") names.push_back(entry.path().filename().string());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::kData, folder.string() + ": cannot be read: " + error.code().message(), pointer);
  }
  if (names.empty()) {
    throw Error(ErrorCode::kData, folder.string() + ": holds no file that ends with .npy", pointer);
  }
  std::sort(names.begin(), names.end(), comes_before);
  return names;
}

/// The table as dataset:csv has it: this one's fields, and the group behind them.
CsvParams table_params(const WindowsParams& params) {
  CsvParams table;
  table.path = params.path;
  table.delimiter = params.delimiter;
  for (std::size_t i = 0; i < params.fields.size(); ++i) {
    const WindowsField& field = params.fields[i];
    if (!field.shape.empty() || !field.folder.empty()) {
      throw Error(ErrorCode::kConfig,
                  params.path.string() +
                      ": is a table, whose fields have \"column\" or \"columns\", and neither "
                      "\"shape\" nor \"folder\"",
                  pointer_of(i) + (field.shape.empty() ? "/folder" : "/shape"));
    }
    CsvField column;
    column.name = field.name;
    column.column = field.column;
    column.columns = field.columns;
    switch (field.dtype) {
      case NpyType::kFloat32: break;
      case NpyType::kFloat64: column.dtype = CsvFloat::kFloat64; break;
      case NpyType::kInt64: column.type = CsvType::kInteger; break;
      default: throw Error(ErrorCode::kConfig, "a table gives float32, float64 or int64", pointer_of(i) + "/dtype");
    }
    table.fields.push_back(std::move(column));
  }
  if (!params.group.empty()) {
    CsvField group;
    group.name = params.group;
    group.column = params.group;
    group.type = CsvType::kText;
    table.fields.push_back(std::move(group));
  }
  return table;
}

}  // namespace

void Recordings::open(const WindowsParams& params, const std::vector<NpySample>& steps) {
  steps_ = steps;
  data_.resize(steps.size());
  std::error_code unreadable;  // what it is will be told by whoever opens the file
  if (fs::is_directory(params.path, unreadable)) {
    open_folder(params);
  } else {
    open_table(params);
  }
}

void Recordings::open_folder(const WindowsParams& params) {
  if (!params.group.empty()) {
    throw Error(ErrorCode::kConfig,
                params.path.string() + ": is a folder, in which each file is a recording: leave out \"group\"",
                "/group");
  }
  std::set<fs::path> folders;
  for (std::size_t field = 0; field < params.fields.size(); ++field) {
    const WindowsField& declared = params.fields[field];
    if (!declared.column.empty() || !declared.columns.empty()) {
      throw Error(ErrorCode::kConfig, params.path.string() + ": is a folder of arrays, which have no columns",
                  pointer_of(field) + (declared.column.empty() ? "/columns" : "/column"));
    }
    const fs::path folder = declared.folder.empty() ? params.path : params.path / declared.folder;
    const std::string pointer = declared.folder.empty() ? "/path" : pointer_of(field) + "/folder";
    std::vector<std::string> names = npy_files(folder, pointer);
    if (names_.empty()) names_ = names;
    folders.insert(folder);  // fields of one folder share its files
    require_mappable(names.size() * folders.size(), folder.string(), "write them into one table with a \"group\"",
                     pointer);
    if (names != names_) {
      const auto [ours, theirs] = std::mismatch(names.begin(), names.end(), names_.begin(), names_.end());
      const bool missing = ours == names.end() || (theirs != names_.end() && comes_before(*theirs, *ours));
      throw Error(ErrorCode::kData,
                  folder.string() + (missing ? ": has no " + *theirs + ", which the first field has"
                                             : ": has " + *ours + ", which the first field does not have"),
                  pointer);
    }
    for (const std::string& name : names_) add_file(field, folder / name, pointer_of(field));
  }
}

void Recordings::add_file(std::size_t field, const fs::path& path, const std::string& pointer) {
  const auto [file, added] = files_.try_emplace(path, path, "/path");
  const NpyArray array = read_npy(file->second.bytes(), path.string(), "/path");
  const NpySamples samples(array, steps_[field], path.string(), pointer, "/name");
  const std::size_t recording = data_[field].size();
  if (field == 0) lengths_.push_back(samples.size());
  if (samples.size() != lengths_[recording]) {
    throw Error(ErrorCode::kData,
                path.string() + ": has " + std::to_string(samples.size()) + " steps, but this recording has " +
                    std::to_string(lengths_[recording]) + " in the first field",
                pointer);
  }
  const std::byte* data = samples.at(0);
  if (data == nullptr && samples.size() > 0) {
    const std::size_t bytes = bytes_of(steps_[field]);
    std::vector<std::byte>& own = own_.emplace_back(bytes * static_cast<std::size_t>(samples.size()));
    for (int64_t i = 0; i < samples.size(); ++i) samples.read(i, own.data() + static_cast<std::size_t>(i) * bytes);
    data = own.data();
  }
  data_[field].push_back(data);
}

void Recordings::open_table(const WindowsParams& params) {
  const CsvParams table = table_params(params);
  std::vector<FieldColumn> columns;
  for (const CsvField& field : table.fields) columns.emplace_back(field);
  int64_t rows = 0;
  try {
    const MappedFile file(params.path, "/path");
    rows = load_csv(file.text(), table, columns).kept;
  } catch (const Error& error) {
    const bool of_group = error.pointer().starts_with(pointer_of(params.fields.size()));
    throw Error(error.code(), error.what(), of_group ? "/group" : error.pointer());
  }
  std::map<std::string, std::size_t, std::less<>> numbers;
  std::vector<std::size_t> recording_of(static_cast<std::size_t>(rows), 0);
  if (params.group.empty()) {
    lengths_ = {rows};
  } else {
    for (std::size_t row = 0; row < recording_of.size(); ++row) {
      const std::span<const std::byte> name = columns.back().at(static_cast<int64_t>(row));
      const auto [found, added] =
          numbers.try_emplace(std::string(reinterpret_cast<const char*>(name.data()), name.size()), lengths_.size());
      if (added) lengths_.push_back(0);
      ++lengths_[found->second];
      recording_of[row] = found->second;
    }
  }
  for (std::size_t field = 0; field < steps_.size(); ++field) {
    const std::size_t bytes = bytes_of(steps_[field]);
    std::vector<std::byte>& own = own_.emplace_back(bytes * recording_of.size());
    std::vector<std::byte*> ends;
    std::byte* begin = own.data();
    for (const int64_t length : lengths_) {
      ends.push_back(begin);
      data_[field].push_back(begin);
      begin += static_cast<std::size_t>(length) * bytes;
    }
    for (std::size_t row = 0; row < recording_of.size(); ++row) {
      std::byte*& end = ends[recording_of[row]];
      std::memcpy(end, columns[field].at(static_cast<int64_t>(row)).data(), bytes);
      end += bytes;
    }
  }
}

uint64_t Recordings::hash() const {
  uint64_t hash = content_hash(std::as_bytes(std::span(lengths_)));
  for (std::size_t field = 0; field < data_.size(); ++field) {
    for (std::size_t recording = 0; recording < lengths_.size(); ++recording) {
      const std::size_t bytes = bytes_of(steps_[field]) * static_cast<std::size_t>(lengths_[recording]);
      hash = random_key({hash, content_hash({data_[field][recording], bytes})});
    }
  }
  return hash;
}

}  // namespace tenon::datasets
