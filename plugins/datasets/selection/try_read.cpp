// Whatever a dataset may throw.
#include <selection/try_read.hpp>

#include <exception>
#include <new>

#include <files/unreadable.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {

namespace {

[[noreturn]] void fail(ErrorCode code, int64_t item, const std::string& why) {
  throw Error(code, "sample " + std::to_string(item) + " of the input: " + why);
}

}  // namespace

std::optional<std::string> try_read(const Dataset& input, int64_t item, Sample& out) {
  try {
    input.read(item, out);
    return std::nullopt;
  } catch (const Error& error) {
    if (!is_fault_of_item(error.code())) fail(error.code(), item, error.what());
    return error.what();
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kMemory, item, "out of memory");
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "threw an exception that does not derive from std::exception";
  }
}

std::string UnreadableItems::told(int64_t items) const {
  return std::to_string(count) + " of " + std::to_string(items) + (items == 1 ? " item" : " items") +
         " cannot be read, the first is item " + std::to_string(first) + " of the input: " + why;
}

}  // namespace tenon::datasets
