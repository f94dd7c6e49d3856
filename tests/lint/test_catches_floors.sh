#!/bin/bash
# The check lint.layers finds files that call each other in a ring, and structs that are too large.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
archive=$TREE/build/lib/librooster.a

# build FILE...: the archive of these files of rooster/.
build() {
    rm -rf "$TREE/build"
    mkdir -p "$TREE/build/lib"
    local name
    for name in "$@"; do
        gcc -O0 -I"$TREE" -c "$TREE/rooster/$name.c" -o "$TREE/build/$name.c.o" || exit 1
        ar rc "$archive" "$TREE/build/$name.c.o"
    done
}

plant rooster/high.c <<<'int low(void); int high(void); int high(void) { return low(); }'
plant rooster/low.c <<<'int low(void); int low(void) { return 1; }'
build high low
passes "a call downwards" layers --objects "$archive"

plant rooster/low.c <<<'int high(void); int low(void); int low(void) { return high(); }'
build high low
finds "two files that call each other" 'tools/floors.txt:1: ring rooster is 2 \(high low\), at most 0' layers --objects "$archive"

plant rooster/table.h <<<'struct table { int (*begin)(void); };'
plant rooster/low.c <<'END'
#include "rooster/table.h"
int low(void);
int low_walk(const struct table *table);
int low(void) { return 1; }
int low_walk(const struct table *table) { return table->begin(); }
END
plant rooster/high.c <<'END'
#include "rooster/table.h"
int low(void);
extern const struct table high_table;
static int begin(void) { return low(); }
const struct table high_table = {.begin = begin};
END
build high low
finds "a table in place of a call" 'tools/floors.txt:1: ring rooster is 2 \(high low\), at most 0' layers --objects "$archive"

python3 "$TREE/tools/floors.py" --write >"$OUT"
grep -q '^rooster  *2 files, ring  2, 100 % of the lines$' "$OUT" || fail "what is measured is printed"
passes "what is recorded" layers --objects "$archive"

plant rooster/low.c <<<'int low(void); int low(void) { return 1; }'
build high low
finds "what has become less and is not recorded" 'tools/floors.txt:1: ring rooster has fallen to 0' layers --objects "$archive"
python3 "$TREE/tools/floors.py" --write >"$OUT"
passes "what has become less and is recorded" layers --objects "$archive"

{
    echo 'struct large {'
    for i in $(seq 20); do echo "    int a$i, b$i;"; done
    echo '    struct { int in; } inner;'
    echo '};'
    echo 'struct flags { bool a, b, c; bool d; bool (*e)(int, int); bool f, g; };'
} | plant rooster/large.h
finds "a struct of many fields" 'tools/floors.txt:1: fields rooster/large is 42, at most 0' layers --objects "$archive"
finds "a struct of many flags" 'tools/floors.txt:1: bools rooster/flags is 6, at most 0' layers --objects "$archive"
finish
