// observer:my_observer: writes logged values as lines of CSV.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>

namespace {

struct MyObserverParams {
  std::optional<std::filesystem::path> file;
  std::string prefix = "validate.";

  TENON_PARAMS(MyObserverParams,
               tenon::field(&MyObserverParams::file, "file", "The file to write; a run that is resumed goes on in it")
                   .word("stderr"),
               tenon::field(&MyObserverParams::prefix, "prefix",
                            "Log keys that are written: those that begin so, such as \"train.loss\""))
};

/// step,key,value: one line for each value.
class MyObserver final : public tenon::Observer {
 public:
  explicit MyObserver(MyObserverParams params) : params_(std::move(params)) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  void on(const tenon::Event& event) override {
    if (event.kind == tenon::Event::Kind::kRunStart) {
      open(event.step > 0 ? "a" : "w");
      if (event.step == 0) write("step,key,value\n");
    }
    for (const tenon::LoggedValue& each : event.values) {
      if (!each.key.starts_with(params_.prefix)) continue;
      char value[32];
      std::snprintf(value, sizeof(value), "%.9g", each.value);
      write(std::to_string(event.step) + "," + std::string(each.key) + "," + value + "\n");
    }
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  void open(const char* mode) {
    if (!params_.file) return;
    file_.reset(std::fopen(params_.file->c_str(), mode));
    if (file_ == nullptr) fail("opened");
  }

  /// At once, so that somebody who follows the file sees it.
  void write(const std::string& line) {
    std::FILE* const to = params_.file ? file_.get() : stderr;
    if (to == nullptr) return;  // it could not be opened, which was told
    if (std::fputs(line.c_str(), to) < 0 || std::fflush(to) != 0) fail("written");
  }

  [[noreturn]] void fail(const char* what) const {
    throw tenon::Error(tenon::ErrorCode::kStorage, (params_.file ? params_.file->string() : "standard error") +
                                                       " cannot be " + what + ": " + std::strerror(errno));
  }

  MyObserverParams params_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace

TENON_COMPONENT(MyObserver, MyObserverParams, "my_observer", "Writes logged values as lines of CSV")
