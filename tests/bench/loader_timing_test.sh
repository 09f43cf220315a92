#!/usr/bin/env bash
# Four loader threads are at least three times as fast as none where samples take 0 to 5 ms, and give the same bytes.
set -euo pipefail

program=${TENON_BUILD_DIR:?}/tests/bench/bench_loader_threads
for try in 1 2 3; do
  figures=$("$program") || { printf '%s\nFAILED: the bytes depend on the number of threads\n' "$figures" >&2; exit 1; }
  printf 'try %s\n%s\n' "$try" "$figures"
  ratio=$(sed -n 's/^threads 4: .*, \([0-9.]*\) times as fast as none.*/\1/p' <<<"$figures")
  if awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 3) }'; then
    printf 'figure: four loader threads are %s times as fast as none\n' "$ratio"
    exit 0
  fi
done
echo "FAILED: 4 threads are less than 3 times as fast as none in each of 3 tries" >&2
exit 1
