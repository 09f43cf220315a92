// tenon_image_tool write FILE KIND              writes a JPEG file
//                  dump PLUGIN NAME PARAMS OUT  reads all items of a dataset: fields to OUT, what they are to stdout
//                  parts PLUGIN NAME PARAMS     compares regions of all items with the whole, prints how many differ
//                  open PLUGIN NAME PARAMS      CPU time of opening a dataset
//                  names COUNT                  memory and time of an index of so many names, made up
//                  cores ROOT GROUP             cores by the quotas of a control group
//                  time PLUGIN NAME PARAMS [PART]  images a second of CPU time, whole or a region of PART of each side
// KIND and PARAMS are JSON.
#include <ctime>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <files/cores.hpp>
#include <image_tool/write_jpeg.hpp>
#include <index/name_list.hpp>
#include <nlohmann/json.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

using harness::MemorySample;
using Json = nlohmann::json;
using DatasetPointer = harness::Made<Dataset>;

DatasetPointer opened(const std::string& plugin, const std::string& name, const std::string& params) {
  auto dataset = harness::Registry::opened(plugin).make<Dataset>(name, params);
  dataset->open({});
  return dataset;
}

Json error_json(const Error& error) { return {{"error", error.what()}, {"pointer", error.pointer()}}; }

Json read_item(const Dataset& dataset, int64_t index, std::ofstream& out) {
  MemorySample sample(dataset.spec());
  try {
    dataset.read(index, sample);
  } catch (const Error& error) {
    return error_json(error);
  }
  Json fields = Json::object();
  for (const FieldSpec& field : dataset.spec()) {
    const Array array = sample.written_array(field.name);
    fields[field.name] = {{"dtype", name_of(array.dtype)},
                          {"shape", sample.written_shape(field.name)},
                          {"offset", static_cast<int64_t>(out.tellp())}};
    out.write(static_cast<const char*>(array.data), static_cast<std::streamsize>(array.bytes()));
  }
  return fields;
}

int dump(const std::string& plugin, const std::string& name, const std::string& params, const std::string& file) {
  Json result;
  try {
    const DatasetPointer dataset = opened(plugin, name, params);
    std::ofstream out(file, std::ios::binary);
    result["items"] = Json::array();
    for (int64_t i = 0; i < dataset->size(); ++i) result["items"].push_back(read_item(*dataset, i, out));
    result["fingerprint"] = dataset->fingerprint();
    if (const auto* const remarks = harness::ability<Remarks>(*dataset)) result["remarks"] = remarks->remarks();
  } catch (const Error& error) {
    result = error_json(error);
  }
  std::cout << result.dump() << "\n";
  return 0;
}

/// Whole images by read(), to compare regions with.
struct Image {
  std::vector<std::byte> bytes;
  Shape shape;
  std::size_t pixel = 0;
};

Image whole_image(const Dataset& dataset, int64_t index) {
  MemorySample sample(dataset.spec());
  dataset.read(index, sample);
  const Array array = sample.written_array("image");
  const auto* const data = static_cast<const std::byte*>(array.data);
  Image image{{data, data + array.bytes()}, sample.written_shape("image"), 0};
  image.pixel = static_cast<std::size_t>(image.shape[2]) * size_of(array.dtype);
  return image;
}

bool equal_part(const Dataset& dataset, const PartialRead& partial, int64_t index, const Image& image,
                const Region& region) {
  MemorySample sample(dataset.spec());
  partial.read_part(
      index, [&](const Extent&) { return region; }, sample);
  const auto* const part = static_cast<const std::byte*>(sample.written_array("image").data);
  const std::size_t width = static_cast<std::size_t>(region.width) * image.pixel;
  for (int64_t y = 0; y < region.height; ++y) {
    const std::byte* const row =
        image.bytes.data() + static_cast<std::size_t>((region.top + y) * image.shape[1] + region.left) * image.pixel;
    if (std::memcmp(part + static_cast<std::size_t>(y) * width, row, width) != 0) return false;
  }
  return true;
}

/// Every place, and heights and widths of few, some and all pixels.
int compare_parts(const std::string& plugin, const std::string& name, const std::string& params) {
  const DatasetPointer dataset = opened(plugin, name, params);
  auto* const partial = harness::ability<PartialRead>(*dataset);
  int64_t tried = 0;
  int64_t different = 0;
  Json first;
  for (int64_t index = 0; index < dataset->size(); ++index) {
    const Image image = whole_image(*dataset, index);
    // Of large images not every place.
    const int64_t step = std::max<int64_t>(1, image.shape[0] * image.shape[1] / 500);
    int64_t place = 0;
    for (int64_t top = 0; top < image.shape[0]; ++top) {
      for (int64_t left = 0; left < image.shape[1]; ++left) {
        if (place++ % step != 0) continue;
        for (const int64_t height : {int64_t{1}, int64_t{9}, image.shape[0] - top}) {
          for (const int64_t width : {int64_t{1}, int64_t{17}, image.shape[1] - left}) {
            if (top + height > image.shape[0] || left + width > image.shape[1]) continue;
            ++tried;
            if (equal_part(*dataset, *partial, index, image, {top, left, height, width})) continue;
            if (different++ == 0) first = {index, top, left, height, width};
          }
        }
      }
    }
  }
  std::cout << Json{{"tried", tried}, {"different", different}, {"first", first}}.dump() << "\n";
  return 0;
}

int time_opening(const std::string& plugin, const std::string& name, const std::string& params) {
  const auto dataset = harness::Registry::opened(plugin).make<Dataset>(name, params);
  const std::clock_t begin = std::clock();
  dataset->open({});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::cout << Json{{"size", dataset->size()}, {"seconds", seconds}}.dump() << "\n";
  return 0;
}

/// A data set of a thousand classes whose names come in no order, as a folder gives them.
int index_names(std::size_t count) {
  const std::clock_t begin = std::clock();
  image_datasets::NameList names;
  uint64_t number = 1;
  for (std::size_t i = 0; i < count; ++i) {
    number = number * 6364136223846793005U + 1442695040888963407U;
    const uint64_t image = number >> 33U;
    names.add("n" + std::to_string(10000000 + image % 1000) + "/n" + std::to_string(10000000 + image % 1000) + "_" +
              std::to_string(image) + ".JPEG");
  }
  names.sort_from(0);
  names.shrink();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  bool sorted = true;
  for (std::size_t i = 1; i < names.size(); ++i) sorted &= names[i - 1] <= names[i];
  std::cout << Json{{"bytes", names.memory()}, {"seconds", seconds}, {"sorted", sorted}, {"count", names.size()}}.dump()
            << "\n";
  return 0;
}

int time_reads(const std::string& plugin, const std::string& name, const std::string& params, double part) {
  const DatasetPointer dataset = opened(plugin, name, params);
  auto* const partial = harness::ability<PartialRead>(*dataset);
  const auto centre = [&](const Extent& whole) {
    const auto height = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(whole.height) * part));
    const auto width = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(whole.width) * part));
    return Region{(whole.height - height) / 2, (whole.width - width) / 2, height, width};
  };
  const auto round = [&] {
    for (int64_t i = 0; i < dataset->size(); ++i) {
      MemorySample sample(dataset->spec());
      if (part < 1) {
        partial->read_part(i, centre, sample);
      } else {
        dataset->read(i, sample);
      }
    }
  };
  round();
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    round();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    best = std::max(best, static_cast<double>(dataset->size()) / seconds);
  }
  std::cout << Json{{"images_a_second", best}}.dump() << "\n";
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "write") {
    write_jpeg(words[1], Json::parse(words[2]));
    return 0;
  }
  if (words.size() == 5 && words[0] == "dump") return dump(words[1], words[2], words[3], words[4]);
  if (words.size() == 4 && words[0] == "parts") return compare_parts(words[1], words[2], words[3]);
  if (words.size() == 4 && words[0] == "open") return time_opening(words[1], words[2], words[3]);
  if (words.size() == 2 && words[0] == "names") return index_names(std::stoul(words[1]));
  if (words.size() == 3 && words[0] == "cores") {
    std::cout << datasets::cores_of_quota(words[1], words[2]).value_or(0) << "\n";
    return 0;
  }
  if (words.size() >= 4 && words[0] == "time") {
    return time_reads(words[1], words[2], words[3], words.size() > 4 ? std::stod(words[4]) : 1.0);
  }
  std::cerr << "write FILE KIND | names COUNT | cores ROOT GROUP | open PLUGIN NAME PARAMS | dump PLUGIN NAME PARAMS "
               "OUT | parts PLUGIN "
               "NAME PARAMS | time PLUGIN NAME PARAMS "
               "[PART]\n";
  return 2;
}

}  // namespace
}  // namespace tenon::test

int main(int count, char** words) {
  try {
    return tenon::test::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
