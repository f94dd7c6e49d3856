#!/bin/bash
# tools/bench.sh: a bench that fails, does not end with its line, cannot be short or does not exist is a failure.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
new_tree
mkdir -p "$WORK/build/bench"

# bench NAME [SIZES]: standard input becomes what the bench does.
bench() {
    { printf '#!/bin/bash\n# A bench.\n#\n'; [ -z "${2:-}" ] || echo "# SHORT: $2"; cat; } | plant "bench/$1.sh"
}
short() { bash "$TREE/tools/bench.sh" --short "$WORK/build" "$@" >"$OUT" 2>&1; }
refused() { # refused WHAT PATTERN NAME
    if short "$3"; then
        fail "$1: passed"
    elif ! grep -q "$2" "$OUT"; then
        fail "$1: no line has '$2'"
    fi
}

bench good "SIZE=2" <<<'echo "note"; echo "BENCH good_size ${SIZE:-1000} jobs ratio 1.0 vs nothing"'
short good || fail "a good bench"
grep -q '^BENCH good_size 2 jobs' "$OUT" || fail "the sizes of its line"
bash "$TREE/tools/bench.sh" "$WORK/build" good >"$OUT" 2>&1 || fail "a good bench, full"
grep -q '^BENCH good_size 1000 jobs' "$OUT" || fail "the full sizes"

bench slow "SIZE=2" <<<'echo "BENCH slow_rate 9 jobs/s ratio 9.00 vs wanted"; echo "BENCH slow 9 ms ratio 1.60 vs target 5.6 ms"; echo "BENCH slow_end 1 ms"'
full() { BENCH_LIMIT=$1 bash "$TREE/tools/bench.sh" "$WORK/build" slow >"$OUT" 2>&1; }
full "" || fail "without a limit nothing is judged"
full 1.7 || fail "a figure within the limit"
full 1.5 && fail "a figure beyond the limit: passed"
grep -q 'bench slow: more than 1.5 times what is asked for: BENCH slow 9 ms' "$OUT" || fail "the figure is named"
grep -q 'asked for: BENCH slow_rate' "$OUT" && fail "what is no target is judged"
BENCH_LIMIT=1.5 short slow || fail "a short form is judged"

bench fails "SIZE=2" <<<'echo "BENCH fails 1 ms"; exit 3'
refused "a bench that fails" "bench fails: failed with status 3" fails
bench silent "SIZE=2" <<<'echo "all is well"'
refused "a bench without its line" "bench silent: its last line is not" silent
bench early "SIZE=2" <<<'echo "BENCH early 1 ms"; echo "and then it ended"'
refused "a bench that does not end with its line" "bench early: its last line is not" early
bench unit "SIZE=2" <<<'echo "BENCH unit 12"'
refused "a figure without a unit" "bench unit: its last line is not" unit
bench long <<<'echo "BENCH long 1 ms"'
refused "a bench without short sizes" "has no line 'SHORT: " long
plant bench/unbuilt.c <<<'/* SHORT: SIZE=2 */'
sed -i 's|^/\* SHORT|/* A bench.\n * SHORT|' "$TREE/bench/unbuilt.c"
refused "a bench that is not built" "bench/unbuilt is missing" unbuilt
refused "a bench that does not exist" "nosuch: no such bench" nosuch

bench needs "SIZE=2" <<<'echo "skipped: no guests here"; exit 77'
short needs
[ $? -eq 77 ] || fail "a bench that cannot run here is skipped"
grep -q 'skipped: no guests here' "$OUT" || fail "the reason is said"
short needs good || fail "a skip beside a bench that ran"
short needs fails && fail "a skip beside a failure"
finish
