# The lion example against an installed Tenon: it trains, and resumes to the byte; versions that forget are caught.
# Called by installed_test.sh: lion.sh PREFIX WORK-FOLDER
set -euo pipefail

prefix=$1
work=$2
example=${TENON_SOURCE_DIR:?}/sdk/examples/lion
tenon=$prefix/bin/tenon
pipeline=$prefix/share/tenon/examples/pipelines/digits.json
fail() { echo "FAILED: $*" >&2; exit 1; }

# The example as it is, and copies of it with one mistake each: the state leaves the biases out, or what is restored
# goes into a copy.
cp -r "$example" "$work/lion"
mkdir "$work/forgetful"
sed 's/(lion /(forgetful /; s/org.example.lion/org.example.forgetful/' "$example/CMakeLists.txt" \
  > "$work/forgetful/CMakeLists.txt"
leave_out='if (slot.group->names[i].ends_with(".bias")) continue;'
sed "s/\"lion\"/\"lion_without_biases\"/; s/^ *at::Tensor exp_avg = /$leave_out\n&/" "$example/lion.cpp" \
  > "$work/forgetful/without_biases.cpp"
sed 's/"lion"/"lion_into_a_copy"/; s/view_like(slot.exp_avg, i)/&.clone()/' "$example/lion.cpp" \
  > "$work/forgetful/into_a_copy.cpp"
for copy in "$work"/forgetful/*.cpp; do
  [ "$(diff "$example/lion.cpp" "$copy" | grep -c '^>')" -eq 2 ] || fail "$copy is not the example with one mistake"
done
for project in lion forgetful; do
  cmake -S "$work/$project" -B "$work/$project/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log"
  cmake --build "$work/$project/build" > "$work/build.log" ||
    { cat "$work/build.log"; fail "$project does not build"; }
done
export TENON_PLUGIN_PATH=$work/lion/build:$work/forgetful/build
"$tenon" plugins show optimizer:lion | grep "Learning rate" > /dev/null || fail "lion is not described"

# It learns.
swapped=("$pipeline" --overlay "$work/lion/lion.overlay.json" --set 'nodes.sched.with.warmup="5 steps"')
"$tenon" run "${swapped[@]}" --set vars.epochs=6 --set 'export=[]' --set "run.dir=\"$work/lion-runs\"" \
  --outcome "$work/lion.json" > /dev/null 2> "$work/lion.err" || { cat "$work/lion.err"; fail "lion does not train"; }
accuracy=$(sed -n 's/.*"test.acc": \([0-9.]*\).*/\1/p' "$work/lion.json")
echo "lion: test accuracy $accuracy after 6 epochs"
awk "BEGIN { exit !($accuracy > 0.9) }" || fail "lion learns nothing"

# It forgets nothing, and who forgets is caught with the tensor by name.
proof=(verify resume "${swapped[@]}" --set vars.epochs=2)
"$tenon" "${proof[@]}" > "$work/proof.txt" 2> "$work/proof.err" ||
  { cat "$work/proof.txt" "$work/proof.err"; fail "lion does not resume"; }
grep "resumes to the same bytes: 4 resumed runs" "$work/proof.txt" || fail "lion: $(cat "$work/proof.txt")"

caught() { # component, what the message must name
  local code=0
  "$tenon" "${proof[@]}" --set "nodes.opt.use=\"optimizer:$1\"" --at 7 > "$work/proof.txt" 2> "$work/proof.err" ||
    code=$?
  [ $code -eq 8 ] || { cat "$work/proof.txt" "$work/proof.err"; fail "$1: exit $code instead of 8"; }
  grep -E "Already after its first step, 8, .* first $2: [0-9]+ of [0-9]+ elements differ" "$work/proof.err" ||
    { cat "$work/proof.err"; fail "$1: $2 is not named"; }
}
caught lion_into_a_copy "exp_avg/net\.[a-z0-9.]+ of opt, optimizer:lion_into_a_copy, in optimizer\.opt\.safetensors"
caught lion_without_biases \
  "[a-z0-9.]+\.bias of net, model:cnn, updated by opt, optimizer:lion_without_biases, in model\.net\.safetensors"
