#!/usr/bin/env bash
# A pipeline of 5,000 nodes is checked in under a second, and a node costs no more there than four times what it costs
# among 500: growth by the square would make that ten.
set -euo pipefail

program=${TENON_BUILD_DIR:?}/tests/bench/bench_check_nodes
for try in 1 2 3; do
  figures=$("$program") || { printf '%s\nFAILED: a pipeline was judged wrongly\n' "$figures" >&2; exit 1; }
  printf 'try %s\n%s\n' "$try" "$figures"
  slow=$(awk '/: 5000 nodes in/ { match($0, /in [0-9.]+ ms, [0-9.]+/); split(substr($0, RSTART, RLENGTH), part, " ")
                                  if (part[2] > 1000 || part[4] > 4) print }' <<<"$figures")
  if [ -z "$slow" ]; then
    sed -n 's/^\(.*\): 5000 nodes in \(.*\)$/figure: check of 5000 nodes, \1: \2/p' <<<"$figures"
    exit 0
  fi
done
printf 'FAILED in each of 3 tries:\n%s\n' "$slow" >&2
exit 1
