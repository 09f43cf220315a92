// Runs a fuzz target over kept inputs, without libFuzzer: files, or folders of files.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fuzz/fuzz.hpp>

namespace {

int inputs = 0;

void run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::printf("%s\n", path.filename().c_str());
  std::fflush(stdout);
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  ++inputs;
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(arguments[i])) {
      run(arguments[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) run(entry.path());
  }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
