# For scripts that build plugins as a third party does: installs the build, and makes projects of one plugin each.
# To be sourced; sets `work`, a folder that goes at the end, and `prefix`.
set -euo pipefail
umask 022 # a plugin that its group may write to is not trusted

build_dir=${TENON_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() { echo "FAILED: $*" >&2; exit 1; }
cmake --install "$build_dir" --prefix "$prefix" > "$work/install.log"

# plugin_project NAME [ARGUMENT OF tenon_add_plugin...] < SOURCE: a project of one source file, configured and not built.
plugin_project() {
  local name=$1 folder=$work/$1
  shift
  mkdir "$folder"
  cat > "$folder/$name.cpp"
  cat > "$folder/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.25)
project($name LANGUAGES CXX)
find_package(Tenon REQUIRED)
tenon_add_plugin($name ID org.example.$name VERSION 1.0.0 $*)
END
  cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log" 2>&1 ||
    { cat "$work/configure.log"; fail "$name does not configure"; }
}
