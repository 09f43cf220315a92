#!/usr/bin/env bash
# A plugin builds with each compiler, generator and language that is promised, and this build's host takes and runs it.
source "${TENON_SOURCE_DIR:?}/tests/sdk/plugin_project.sh"

for program in g++ clang++ make ninja; do
  command -v "$program" > /dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
tenon=$prefix/bin/tenon
pipeline=$prefix/share/tenon/examples/pipelines/digits.json
short=(--set fit.epochs=1 --set 'nodes.sched.with.warmup="5 steps"' --limit train=3,val=1,test=1 --set 'export=[]'
       --set "run.dir=\"$work/runs\"" --quiet --no-preflight)
swap='nodes.shift={"use":"transform:cutout","in":"train_set","with":{"size":3}}'

weights=
for pair in g++:Ninja:20 g++:'Unix Makefiles':23 clang++:Ninja:23 clang++:'Unix Makefiles':20; do
  IFS=: read -r compiler generator standard <<< "$pair"
  folder=$work/$compiler-$standard
  cmake -S "${TENON_SOURCE_DIR:?}/sdk/examples/cutout" -B "$folder" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_STANDARD="$standard" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" \
    -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail "$pair: configure"; }
  cmake --build "$folder" --verbose > "$work/build.log" 2>&1 || { cat "$work/build.log"; fail "$pair: build"; }
  grep -qE -- "-std=(c|gnu)\+\+(${standard}|2[ab])" "$work/build.log" || fail "$pair: not of that standard"
  "$tenon" run "$pipeline" "${short[@]}" --plugin-path "$folder" --set "$swap" > "$work/run.out" 2> "$work/run.err" ||
    { cat "$work/run.err"; fail "$pair: the run"; }
  run=$(ls -d "$work"/runs/digits/*/ | tail -1)
  grep -q org.example.cutout "$run/lock.json" || fail "$pair: cutout was not used"
  now=$(sha256sum < "$(ls "$run"/checkpoints/step-*/model.net.safetensors | tail -1)")
  [ -z "$weights" ] || [ "$weights" = "$now" ] || fail "$pair: other numbers than the first"
  weights=$now
done
echo "passed: four builds, the same bytes"
