#!/bin/bash
# tools/fuzz.sh [-s SECONDS] BUILD_FOLDER: runs libFuzzer on each parser and decoder
#
# Without -s each target runs for a short while, as a test.  With -s each runs for so long, and of the inputs that were
# found those that reach code which no input of the tree reaches are added to tests/fuzz/corpus: the smallest first, none
# of more than INPUT_BYTES_MAX.  An input that ends a target in an error stays in BUILD_FOLDER/corpus, named
# TARGET-crash-...: repair the cause, then add the input to tests/fuzz/corpus/TARGET yourself.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/lib.sh"

SECONDS_DEFAULT=20
INPUT_BYTES_MAX=1024
seconds=
take_options "s=seconds" 1 1 "$@"
build=$(realpath "${OPERANDS[0]}") || exit 2
cmake "-DROOST_FUZZ_SECONDS=${seconds:-$SECONDS_DEFAULT}" "$build" >/dev/null || exit 1
(cd "$build" && ctest --output-on-failure -j "${TEST_JOBS:-3}")
status=$?
[ -n "$seconds" ] || exit $status

# By edges, not by how often each was taken: that would keep thousands of inputs.
export ASAN_OPTIONS=allocator_may_return_null=1
small=$(mktemp -d)
trap 'rm -rf "$small"' EXIT
for source in "$ROOST_SRC"/tests/fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    name=${target#fuzz_}
    corpus=$ROOST_SRC/tests/fuzz/corpus/$name
    mkdir -p "$corpus" "$small/$name"
    find "$build/corpus/$name" -type f -size -$((INPUT_BYTES_MAX + 1))c -exec ln -st "$small/$name" {} +
    before=$(find "$corpus" -type f | wc -l)
    if ! "$build/tests/bin/$target" -merge=1 -use_counters=0 -rss_limit_mb=2048 -timeout=10 "$corpus" "$small/$name" \
        >"$build/corpus/$name.merge" 2>&1; then
        echo "fuzz: cannot merge the inputs of $name; see $build/corpus/$name.merge" >&2
        status=1
    fi
    after=$(find "$corpus" -type f | wc -l)
    [ "$after" -eq "$before" ] || echo "fuzz: added $((after - before)) inputs to tests/fuzz/corpus/$name"
done
exit $status
