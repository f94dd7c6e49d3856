#!/bin/bash
# The check lint.docs finds names of things that are not there.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

# What our own scripts name is not in the small tree.
lint() {
    (cd "$TREE" && "$PYTHON" "$ROOST_SRC/tools/lint_$1.py" "$TREE") >"$OUT" 2>&1
}

# page TEXT: README.md has this line.
page() {
    plant README.md <<<"$1"
}

new_tree
rm -r "$TREE"/{tools,cmake}
plant rooster/wakes.c <<'END'
/* rooster/wakes.c - wakes: choose.c calls node_wake(). */
struct node { int a; };
static const int TABLE[] = {1};
int node_wake(void) { return TABLE[0]; }
END
plant rooster/choose.c <<<'int node_wake(void); int choose(void) { return node_wake(); }'
page 'One `rooster/wakes.c`, `node_wake()` and `TABLE` of `rooster/wakes.c`; `choose.c` of `rooster/`, a `struct node`, [it](rooster/choose.c).'
passes "names of what is there" docs

page 'The file `rooster/asleep.c`.'
finds "a path" "README.md:1: no file 'rooster/asleep.c'" docs
page 'The file asleep.c.'
finds "a file" "README.md:1: no file 'asleep.c'" docs
page 'The folder `rooster/nodes/`.'
finds "a folder" "README.md:1: no folder 'rooster/nodes/'" docs
page 'See [the page](rooster/nodes.md).'
finds "a link" "README.md:1: broken link to 'rooster/nodes.md'" docs
page 'Then `node_sleep()` is called.'
finds "a function" "README.md:1: no function 'node_sleep\(\)'" docs
page 'It is a `struct claim`.'
finds "a struct" "README.md:1: no 'struct claim'" docs
page 'A row in `COLUMNS` of `rooster/wakes.c`.'
finds "a table" "README.md:1: no 'COLUMNS' in rooster/wakes.c" docs
page 'See `rooster/choose.c`, `node_asleep()`.'
finds "a function of a file" "README.md:1: no 'node_asleep' in rooster/choose.c" docs
page 'Nothing.'

plant rooster/look.c <<<'/* rooster/look.c - looks: see asleep.h and node_sleep(). */'
finds "a file in a comment" "rooster/look.c:1: no file 'asleep.h'" docs
finds "a function in a comment" "rooster/look.c:1: no function 'node_sleep\(\)'" docs
plant rooster/look.c <<<'const char *look(void) { return "asleep.h node_sleep()"; }'
passes "names in a string" docs
plant tools/look.sh <<<'# Runs tools/asleep.sh.'
finds "a file in a script's comment" "tools/look.sh:1: no file 'tools/asleep.sh'" docs
rm "$TREE/tools/look.sh"

page 'The C library has `wcwidth()`.'
plant tools/docs_names.txt <<<'wcwidth()'
passes "a name of another program" docs
page 'Nothing.'
finds "a name that nobody uses" "tools/docs_names.txt:1: 'wcwidth\(\)' is not mentioned any more" docs
finish
