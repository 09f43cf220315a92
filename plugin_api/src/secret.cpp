// Reading secrets from the environment.
#include <tenon/secret.hpp>

#include <cstdlib>

#include <tenon/error.hpp>

namespace tenon {

std::string Secret::read() const {
  const char* const value = std::getenv(variable_.c_str());
  if (value == nullptr || *value == '\0') {
    throw Error(ErrorCode::kConfig, "the environment variable " + variable_ + ", which holds a secret, is " +
                                        (value == nullptr ? "not set" : "empty") +
                                        ": set it before the program starts");
  }
  return value;
}

}  // namespace tenon
