// The log, and the thread of the observers.
#include <engine/events.hpp>

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include <core/process/alternate_stack.hpp>
#include <core/storage/canonical_json.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {
namespace {

constexpr std::size_t kCapacity = 1024;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string_view log_name(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::kRunStart: return "run_start";
    case Event::Kind::kStep: return "step";
    case Event::Kind::kValidateEnd: return "validate";
    case Event::Kind::kCheckpoint: return "checkpoint";
    case Event::Kind::kBest: return "best";
    case Event::Kind::kTest: return "test";
    case Event::Kind::kExport: return "export";
    case Event::Kind::kValidateStart:
    case Event::Kind::kMessage: return "message";
    case Event::Kind::kRunEnd: return "run_end";
    case Event::Kind::kFailure: return "failure";
    case Event::Kind::kTiming: return "timing";
  }
  return "message";
}

}  // namespace

/// Shared with the thread, which may outlive the owner when an observer does not come back.
struct ObserverThread::State {
  std::vector<Listener> observers;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<OwnedEvent> queue;
  bool busy = false;
  bool ending = false;
  int64_t dropped = 0;
  std::set<std::string> failed;
  std::vector<std::string> problems;
};

ObserverThread::ObserverThread(std::vector<Listener> observers) : state_(std::make_shared<State>()) {
  state_->observers = std::move(observers);
  thread_ = std::thread([state = state_] { work(state); });
}

ObserverThread::~ObserverThread() {
  const bool idle = drain(0);
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->changed.notify_all();
  if (idle) {
    thread_.join();
  } else {
    thread_.detach();  // an observer does not come back: its component has been given up
  }
}

void ObserverThread::post(OwnedEvent event) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->queue.size() >= kCapacity) {
      const auto step = std::find_if(state_->queue.begin(), state_->queue.end(),
                                     [](const OwnedEvent& queued) { return queued.event.kind == Event::Kind::kStep; });
      state_->queue.erase(step == state_->queue.end() ? state_->queue.begin() : step);
      ++state_->dropped;
    }
    state_->queue.push_back(std::move(event));
  }
  state_->changed.notify_all();
}

bool ObserverThread::drain(double seconds) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                  [&] { return state_->queue.empty() && !state_->busy; });
}

std::vector<std::string> ObserverThread::problems() {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> all = state_->problems;
  if (state_->dropped > 0) all.push_back(fmt::format("observers were too slow: {} events dropped", state_->dropped));
  return all;
}

void ObserverThread::work(const std::shared_ptr<State>& state) {
  const core::AlternateStack stack("observers");
  std::unique_lock lock(state->mutex);
  while (true) {
    state->changed.wait(lock, [&] { return state->ending || !state->queue.empty(); });
    if (state->queue.empty()) return;
    OwnedEvent owned = std::move(state->queue.front());
    state->queue.pop_front();
    state->busy = true;
    lock.unlock();
    std::vector<LoggedValue> values;
    for (const auto& [key, value] : owned.values) values.push_back({key, value});
    owned.event.values = values;
    owned.event.text = owned.text;
    std::vector<std::pair<std::string, std::string>> failures;
    for (const auto& [name, observer, callee] : state->observers) {
      const core::Entered entered(callee, "on");
      try {
        observer->on(owned.event);
      } catch (...) {
        failures.emplace_back(name, current_error(ErrorCode::kPlugin).what());
      }
    }
    lock.lock();
    for (const auto& [name, message] : failures) {
      if (state->failed.insert(name).second) state->problems.push_back(fmt::format("{} failed: {}", name, message));
    }
    state->busy = false;
    state->changed.notify_all();
  }
}

Events::Events(const core::RunDirectory& directory, core::EventLog& log, ObserverThread& observers, int64_t planned,
               int64_t epochs)
    : directory_(&directory),
      log_(&log),
      observers_(&observers),
      planned_(planned),
      epochs_(epochs),
      begin_(seconds_now()) {}

double Events::elapsed() const { return seconds_now() - begin_; }

void Events::tell(Event::Kind kind, std::vector<std::pair<std::string, double>> values, std::string text) {
  if (log_ == nullptr) return;
  core::Json fields = core::Json::object();
  fields["epoch"] = epoch_;
  if (!text.empty()) fields["text"] = text;
  for (const auto& [key, value] : values) fields["values"][key] = core::number_json(value);
  log_->write(log_name(kind), step_, fields);
  directory_->require_present();  // a line in a file without a name is lost
  post(kind, std::move(values), std::move(text));
}

void Events::announce(Event::Kind kind, std::string text) {
  if (observers_ != nullptr) post(kind, {}, std::move(text));
}

void Events::post(Event::Kind kind, std::vector<std::pair<std::string, double>> values, std::string text) {
  OwnedEvent owned;
  owned.event.kind = kind;
  owned.event.step = step_;
  owned.event.planned = planned_;
  owned.event.epoch = epoch_;
  owned.event.epochs = epochs_;
  owned.event.elapsed = elapsed();
  owned.event.remaining = remaining_;
  owned.event.samples_per_second = samples_per_second_;
  owned.values = std::move(values);
  owned.text = std::move(text);
  observers_->post(std::move(owned));
}

}  // namespace tenon::engine
