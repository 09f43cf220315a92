#!/usr/bin/env bash
# What a plugin must not hold is found when it is built, told in a sentence, and the plugin is not there then.
source "${TENON_SOURCE_DIR:?}/tests/sdk/plugin_project.sh"

# source_of NAME STATEMENT [DECLARATION]: a transform whose apply() does that.
source_of() {
  cat << END
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>
${3-}
namespace {
class Faulty final : public tenon::Transform {
 public:
  explicit Faulty(const tenon::NoParams&) {}
  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }
  tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample&, tenon::Rng&, const tenon::When&) const override { $2; }
};
}  // namespace
TENON_COMPONENT(Faulty, tenon::NoParams, "$1", "Made for a test")
END
}

# refused NAME SENTENCE: the project NAME does not build, and why is told.
refused() {
  local name=$1 log=$work/$1.log
  cmake --build "$work/$name/build" > "$log" 2>&1 && fail "$name builds"
  grep -qF -- "$2" "$log" || { cat "$log"; fail "$name: not told: $2"; }
  [ ! -e "$work/$name/build/$name.so" ] || fail "$name is there although it is faulty"
}

source_of setter 'setenv("A", "1", 1)' '#include <cstdlib>' | plugin_project setter
refused setter 'calls setenv, which changes the environment of a process whose threads read it: take a parameter instead'
source_of ender 'std::exit(3)' '#include <cstdlib>' | plugin_project ender
refused ender 'calls exit, which ends the whole process: throw tenon::Error instead'
source_of dice 'static_cast<void>(std::random_device()())' '#include <random>' | plugin_project dice
refused dice 'calls std::random_device, which draws numbers that no seed of the run decides'
source_of two 'static_cast<void>(std::rand()); std::signal(SIGINT, SIG_IGN)' $'#include <csignal>\n#include <cstdlib>' |
  plugin_project two
refused two 'calls signal, which replaces a signal handler: those belong to the host'
refused two 'and calls rand, which'

source_of forker 'static_cast<void>(::fork()); at::set_num_threads(2)' $'#include <ATen/Parallel.h>\n#include <unistd.h>' |
  plugin_project forker TORCH
refused forker 'calls fork, which copies a process that has threads, whose locks stay locked in the copy'
refused forker 'and calls at::set_num_threads, which changes the number of threads for all'
source_of other 'execl("/bin/true", "true", nullptr)' '#include <unistd.h>' | plugin_project other
refused other 'calls execl, which puts another program into the place of the whole process'
source_of fast '' '' | plugin_project fast
echo 'target_link_options(fast_raw PRIVATE -Ofast)' >> "$work/fast/CMakeLists.txt"
if "${CXX:-c++}" --version | grep -q '(.*) 1[0-2]\.'; then  # gcc 13 leaves it out of shared libraries
  refused fast 'is linked with -ffast-math, -funsafe-math-optimizations or -Ofast'
fi

source_of debug '' '' | plugin_project debug
echo 'target_compile_definitions(debug_raw PRIVATE _GLIBCXX_DEBUG)' >> "$work/debug/CMakeLists.txt"
refused debug 'string=cxx11 debug=1", but Tenon with "'

source_of open 'open_to_all()' 'extern "C" __attribute__((visibility("default"))) void open_to_all() {}' |
  plugin_project open
echo 'set_target_properties(open_raw PROPERTIES LINK_OPTIONS "")' >> "$work/open/CMakeLists.txt"
refused open 'more beside tenon_plugin_1: another library'

source_of ops '' $'#include <torch/library.h>\nTORCH_LIBRARY(mine, m) { m.def("twice(Tensor x) -> Tensor"); }' > "$work/ops.cpp"
plugin_project ops TORCH < "$work/ops.cpp"
refused ops 'registers the torch operator namespace mine (TORCH_LIBRARY) without declaring it: add NAMESPACES mine to its'
sed -i 's/ TORCH)/ TORCH NAMESPACES other)/' "$work/ops/CMakeLists.txt"
refused ops 'registers the torch operator namespace mine'
sed -i 's/ other)/ other mine)/' "$work/ops/CMakeLists.txt"
cmake --build "$work/ops/build" > "$work/ops.log" 2>&1 || { cat "$work/ops.log"; fail "ops does not build"; }

# Who must call such a function says so.
source_of allowed 'setenv("A", "1", 1)' '#include <cstdlib>' | plugin_project allowed ALLOW setenv
cmake --build "$work/allowed/build" > "$work/allowed.log" 2>&1 || { cat "$work/allowed.log"; fail "ALLOW allows nothing"; }
"$prefix/bin/tenon" plugins list --plugin-path "$work/allowed/build" > "$work/listed.txt"
grep -q org.example.allowed "$work/listed.txt" || fail "allowed is not listed"
echo passed
