// Our side of the loader's benchmarks: a scenario as JSON in the first argument, then a command a line on standard
// input and an answer a line on standard output.
#include <exception>
#include <iostream>
#include <string>

#include <contender.hpp>

namespace tenon::bench {
namespace {

std::unique_ptr<Contender> make(const Json& scenario) {
  const auto kind = scenario.at("kind").get<std::string>();
  if (kind == "stream") return make_stream(scenario);
  if (kind == "loader") return make_loader(scenario);
  if (kind == "build") return make_build();
  return make_ceiling(scenario);
}

int serve(const char* scenario) {
  try {
    const std::unique_ptr<Contender> contender = make(Json::parse(scenario));
    std::cout << contender->about().dump() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << contender->act(Json::parse(line)).dump() << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cout << Json{{"missing", error.what()}}.dump() << std::endl;
    return 1;
  }
}

}  // namespace
}  // namespace tenon::bench

int main(int count, char** arguments) {
  if (count == 2) return tenon::bench::serve(arguments[1]);
  std::cerr << "usage: bench_loader SCENARIO\n";
  return 2;
}
