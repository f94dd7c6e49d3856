#!/bin/bash
# The check lint.unused finds functions that nobody calls.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
build=$TREE/build

# build FILE...: objects of these files, where CMake puts them.
build() {
    rm -rf "$build"
    local name object
    for name in "$@"; do
        case $name in
            tests/*) object=$build/tests/CMakeFiles/unit.dir/${name#tests/}.o ;;
            *) object=$build/CMakeFiles/${name%%/*}.dir/$name.o ;;
        esac
        mkdir -p "$(dirname "$object")"
        gcc -O2 -I"$TREE" -c "$TREE/$name" -o "$object" || exit 1
    done
}

plant rooster/main.c <<<'int wakes(void); int main(void); int main(void) { return wakes(); }'
plant rooster/wakes.c <<<'int wakes(void); int wakes(void) { return 1; }'
build rooster/main.c rooster/wakes.c
passes "a function that another file calls" unused --build "$build"

plant rooster/wakes.c <<'END'
int wakes(void);
int helper(void);
int helper(void) { return 1; }
int wakes(void) { return helper(); }
END
build rooster/main.c rooster/wakes.c
finds "a function of one file" 'rooster/wakes.c:2: no other file calls helper\(\): make it static' unused --build "$build"

plant rooster/wakes.c <<<'int wakes(void); int old(void); int wakes(void) { return 1; } int old(void) { return 2; }'
sed -i 's/int old(void); //' "$TREE/rooster/wakes.c"
build rooster/main.c rooster/wakes.c
finds "a function that nobody calls" 'rooster/wakes.c:1: no other file calls old\(\): remove it' unused --build "$build"

plant tests/unit/test_wakes.c <<<'int old(void); int test(void); int test(void) { return old(); }'
build rooster/main.c rooster/wakes.c tests/unit/test_wakes.c
finds "a function for tests" 'rooster/wakes.c:1: only tests call old\(\): remove it, or list it' unused --build "$build"
plant tools/tests_only.txt <<<'old'
passes "a function for tests that is listed" unused --build "$build"
build rooster/main.c rooster/wakes.c
passes "a test that is not built" unused --build "$build"

plant rooster/main.c <<<'int old(void); int wakes(void); int main(void); int main(void) { return wakes() + old(); }'
build rooster/main.c rooster/wakes.c tests/unit/test_wakes.c
finds "a list that is out of date" 'tools/tests_only.txt:1: old\(\) is not a function that only tests call' unused --build "$build"
rm "$TREE/tools/tests_only.txt"

plant ckpt/stub/part.c <<<'int wakes(void); int part(void); int part(void) { return wakes(); }'
plant rooster/main.c <<<'int main(void); int main(void) { return 0; }'
plant rooster/wakes.c <<<'int wakes(void); int wakes(void) { return 1; }'
build rooster/main.c rooster/wakes.c
passes "a caller that has no object" unused --build "$build"
finish
