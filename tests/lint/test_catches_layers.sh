#!/bin/bash
# The check lint.layers finds planted includes and planted state.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
plant base/loop.h <<<''
plant base/err.h <<<''
plant base/os/os_run.h <<<''
plant classad/ad.h <<<'#include "base/err.h"'
plant wire/wire.h <<<'#include "base/loop.h"'
plant schedd/schedd.h <<<''
plant rooster/rooster.c <<'END'
#include <stdint.h>
/* #include "schedd/schedd.h" */
#include "wire/wire.h"
END
plant rooster/main.c <<<'#include "base/os/os_run.h"'
passes "includes downwards" layers

plant rooster/x.c <<<'#include "schedd/schedd.h"'
finds "a daemon that includes another" 'rooster/x.c:1: "schedd/schedd.h" is not allowed here: rooster/ may include' layers
plant rooster/x.c <<<'#include <unistd.h>'
finds "the machine in a daemon" 'rooster/x.c:1: <unistd.h> is allowed only in base/' layers
plant rooster/x.c <<<'#include <event2/event.h>'
finds "a library outside its wrapper" 'rooster/x.c:1: <event2/event.h> is allowed only in base/' layers
plant rooster/x.c <<<'#include <gtk/gtk.h>'
finds "an unknown library" 'rooster/x.c:1: <gtk/gtk.h> is not in tools/layers.rules' layers
plant rooster/x.c <<<'#include "rooster.h"'
finds "an include that is not a path from the top" 'rooster/x.c:1: "rooster.h" is not a file' layers
plant rooster/x.c <<<'#include "base/os/os_run.h"'
finds "a daemon that makes its os" 'rooster/x.c:1: "base/os/os_run.h" is allowed only in' layers
rm "$TREE/rooster/x.c"

plant wire/x.c <<<'#include "rooster/x.h"'
plant rooster/x.h <<<'int x;'
finds "a library that includes a daemon" 'wire/x.c:1: "rooster/x.h" is not allowed here: wire/ may include' layers
rm "$TREE/wire/x.c"

plant rooster/wake_plan.c <<<'#include "classad/ad.h"'
passes "a pure plan" layers
plant rooster/x.h <<<'#include "wire/wire.h"'
plant rooster/wake_plan.c <<<'#include "rooster/x.h"'
finds "a plan that reaches the loop" 'rooster/wake_plan.c:1: "base/loop.h" \(through rooster/x.h wire/wire.h\)' layers
plant rooster/wake_plan.c <<<'#include <time.h>'
finds "a plan with a clock" 'rooster/wake_plan.c:1: <time.h>: a plan' layers
rm "$TREE/rooster/wake_plan.c"
plant classad/ad.c <<<'#include "base/loop.h"'
finds "ClassAds that do I/O" 'classad/ad.c:1: "base/loop.h": this file is pure' layers
rm "$TREE/classad/ad.c"
plant gui/x.c <<<''
finds "a folder without a rule" "gui/x.c:1: tools/layers.rules has no line 'folder gui" layers
rm -r "$TREE/gui"

plant rooster/x.c <<'END'
static const char *const words[] = {"read", "only"};
const char *const *get(void);
const char *const *get(void) { return words; }
int count(void);
int count(void)
{
    static int calls;
    return ++calls;
}
int shared = 3;
END
mkdir -p "$TREE/build-o"
gcc -fPIC -c "$TREE/rooster/x.c" -o "$TREE/build-o/x.c.o" && ar rc "$TREE/build-o/librooster.a" "$TREE/build-o/x.c.o"
finds "a static in a function" "rooster/x.c:7: 'calls' is in .bss" layers --objects "$TREE/build-o/librooster.a"
finds "a variable of the file" "rooster/x.c:10: 'shared' is in .data" layers --objects "$TREE/build-o/librooster.a"
if grep -q words "$OUT"; then fail "a constant table was taken for state"; fi
printf 'state calls : rooster/x.c\nstate shared : rooster/*\n' >>"$TREE/tools/layers.rules"
passes "state that is allowed" layers --objects "$TREE/build-o/librooster.a"
finish
