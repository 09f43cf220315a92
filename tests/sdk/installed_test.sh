#!/usr/bin/env bash
# What a third party does: an installed Tenon in another place, a plugin of one's own, and the families built against it.
set -euo pipefail
umask 022 # a plugin that its group may write to is not trusted

source_dir=${TENON_SOURCE_DIR:?}
build_dir=${TENON_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build_dir" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/prefix" # relocatable: nothing may remember where it was installed
prefix=$work/prefix
tenon=$prefix/bin/tenon

! grep -rIl -e "$source_dir" -e "$work/first" "$prefix/lib/cmake" "$prefix/include" "$prefix/share" ||
  fail "the install remembers where it came from"

# What is there to read and to begin with, and it fits what is installed.
for page in pipelines data commands editors plugins reference/README; do
  [ -f "$prefix/share/tenon/docs/$page.md" ] || fail "docs/$page.md is not installed"
done
for each in "$prefix"/share/tenon/{examples,templates}/pipelines/*.json*; do
  "$tenon" check --strict "$each" > "$work/check.txt" 2> "$work/check.err" || { cat "$work/check.err"; fail "$each"; }
done

# A plugin without libtorch, from a copy of the example alone.
cp -r "$source_dir/sdk/examples/cutout" "$work/cutout"
cmake -S "$work/cutout" -B "$work/cutout/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log"
begin=$(date +%s%N)
cmake --build "$work/cutout/build" > "$work/build.log" || { cat "$work/build.log"; fail "cutout does not build"; }
echo "cutout built in $((($(date +%s%N) - begin) / 1000000)) ms"
plugin=$work/cutout/build/cutout.so
[ -f "$plugin" ] || fail "cutout.so is not there"
readelf -d "$plugin" | grep NEEDED | grep -qE 'torch|c10' && fail "cutout needs libtorch"
exported=$(nm -D --defined-only "$plugin" | awk '$2 != "A" { print $3 }')
[ "$exported" = tenon_plugin_1 ] || fail "exported symbols: $exported"

# Its test passes, and so does the check that proves it.
ctest --test-dir "$work/cutout/build" --output-on-failure > "$work/ctest.txt" || { cat "$work/ctest.txt"; fail "cutout_test"; }
grep -q "100% tests passed.* out of 1" "$work/ctest.txt" || { cat "$work/ctest.txt"; fail "no test was run"; }
"$tenon" plugins check "$plugin" > "$work/conformance.txt" || { cat "$work/conformance.txt"; fail "cutout does not conform"; }

# Found through the environment, stripped of everything that can be stripped.
strip -s "$plugin"
export TENON_PLUGIN_PATH=$work/cutout/build
"$tenon" plugins list > "$work/listed.txt"
grep -q org.example.cutout "$work/listed.txt" || fail "cutout is not listed"
"$tenon" plugins show transform:cutout | grep "Side of the masked square" > /dev/null || fail "cutout is not described"

# In the place of a node, by --set and by an overlay: nothing is rebuilt.
pipeline=$prefix/share/tenon/examples/pipelines/digits.json
[ -f "$pipeline" ] || fail "the demo's pipeline is not installed"
short=(--set fit.epochs=1 --set 'nodes.sched.with.warmup="5 steps"' --set 'export=[]' --set "run.dir=\"$work/runs\"")
swap='nodes.shift={"use":"transform:cutout","in":"train_set","with":{"size":3}}'
"$tenon" run "$pipeline" "${short[@]}" > "$work/plain.txt" 2> "$work/plain.err" || { cat "$work/plain.err"; fail "plain run"; }
"$tenon" run "$pipeline" "${short[@]}" --set "$swap" > "$work/set.txt" 2> "$work/set.err" || { cat "$work/set.err"; fail "--set"; }
"$tenon" run "$pipeline" "${short[@]}" --overlay "$work/cutout/cutout.overlay.json" > "$work/overlay.txt" \
  2> "$work/overlay.err" || { cat "$work/overlay.err"; fail "--overlay"; }
runs=$work/runs/digits
grep -q org.example.cutout "$runs/0001/lock.json" && fail "the plain run opened cutout"
for run in 0002 0003; do
  grep -q org.example.cutout "$runs/$run/lock.json" || fail "run $run did not open cutout"
done
weights=$(basename "$(ls -d "$runs"/0001/checkpoints/step-* | tail -1)")/model.net.safetensors
cmp -s "$runs/0001/checkpoints/$weights" "$runs/0002/checkpoints/$weights" && fail "cutout changed nothing"
cmp "$runs/0002/checkpoints/$weights" "$runs/0003/checkpoints/$weights" || fail "--set and --overlay differ"

# A plugin of another fingerprint is refused before it is opened, with both sides named.
mkdir "$work/other"
objcopy --dump-section .tenon.manifest="$work/manifest.json" "$plugin" "$work/other/cutout.so"
sed -i 's/"fingerprint":"[^"]*string=cxx11/"fingerprint":"cxxabi=itanium string=old/; s/"fingerprint": "[^"]*string=cxx11/"fingerprint": "cxxabi=itanium string=old/' "$work/manifest.json"
objcopy --update-section .tenon.manifest="$work/manifest.json" "$work/other/cutout.so"
set +e
TENON_PLUGIN_PATH=$work/other "$tenon" run "$pipeline" "${short[@]}" --set "$swap" 2> "$work/refused.err"
code=$?
set -e
[ $code -eq 3 ] || { cat "$work/refused.err"; fail "exit $code instead of 3 for a foreign fingerprint"; }
grep -q "plugin old, this Tenon cxx11" "$work/refused.err" ||
  { cat "$work/refused.err"; fail "the refusal does not name both sides"; }

# An optimizer with state, over libtorch.
bash "$source_dir/tests/sdk/lion.sh" "$prefix" "$work"

# The families configure as a project of their own, and one with and one without libtorch build.
cp -r "$source_dir/plugins" "$work/plugins"
cmake -S "$work/plugins" -B "$work/plugins-build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log" ||
  { cat "$work/configure.log"; fail "plugins/ does not configure alone"; }
cmake --build "$work/plugins-build" --target tenon_transforms tenon_losses > "$work/build.log" ||
  { cat "$work/build.log"; fail "plugins/ does not build alone"; }
find "$work/plugins-build" -name tenon_losses.so | grep . > /dev/null || fail "tenon_losses.so is not there"
echo "passed"
