#!/usr/bin/env bash
# Every SDK header compiles alone, with g++ and with clang, warnings being errors; those without libtorch see none of it.
set -euo pipefail

roots=("${TENON_SOURCE_DIR:?}/plugin_api/include" "$TENON_SOURCE_DIR/sdk/harness/include"
       "$TENON_SOURCE_DIR/kernel/embed/include")
libtorch=$(cat "${TENON_BUILD_DIR:?}/lib/tenon/libtorch.path")
command -v clang++ > /dev/null || { echo "skipped: clang++ is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror "${roots[@]/#/-I}")

mapfile -t headers < <(find "${roots[@]}" -name '*.hpp' -printf '%P\n' | sort)
over_aten=()
for header in "${headers[@]}"; do
  echo "#include <$header>" > "$work/one.cpp"
  reached=$(g++ -std=c++20 -M -MG "${roots[@]/#/-I}" "$work/one.cpp")
  if grep -qE '(ATen|c10|torch)/' <<< "$reached"; then
    over_aten+=("$header")
    continue
  fi
  for compiler in g++ clang++; do
    $compiler "${flags[@]}" "$work/one.cpp" || { echo "FAILED: <$header> with $compiler" >&2; exit 1; }
  done
done
[ ${#over_aten[@]} -gt 5 ] && [ ${#headers[@]} -gt $((${#over_aten[@]} + 10)) ] ||
  { echo "FAILED: ${#headers[@]} headers, ${#over_aten[@]} over ATen: too few to be all" >&2; exit 1; }

# libtorch's own headers take seconds: those over it go into one file, last to first, so that none leans on another.
printf '#include <%s>\n' "${over_aten[@]}" | tac > "$work/all.cpp"
for compiler in g++ clang++; do
  $compiler "${flags[@]}" -isystem "$libtorch/include" "$work/all.cpp" ||
    { echo "FAILED: the headers over ATen with $compiler" >&2; exit 1; }
done
echo "${#headers[@]} headers, ${#over_aten[@]} of them over ATen"
