#!/bin/bash
# The check lint.banned finds planted calls, and only calls.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
plant wire/call.c <<'END'
/* strcpy(a, b) in a comment */
static const char *text = "strcpy(a, b)"; // sprintf(x)
int f(struct x *x)
{
    return x->free(1) + x.time(2) + my_strcpy(3) + strcpyish(4) + 'a' + '"' + strlen("\"");
}
END
passes "words in comments, strings, members and longer names" banned

plant wire/call.c <<'END'
/* over
 * two lines */ int a;
int f(void) { return strcpy (p, "x"); }
END
finds "a call after a comment of two lines" "wire/call.c:3: strcpy\(\) is banned here" banned

plant wire/call.c <<<'void *p(void) { return malloc(3); }'
finds "the heap outside its door" "wire/call.c:1: malloc\(\) .*base/mem.h" banned
rm "$TREE/wire/call.c"
plant base/mem_libc.c <<<'void *p(void) { return malloc(3); }'
passes "the heap at its door" banned

plant rooster/rooster.c <<<'long p(void) { return time(0); }'
finds "a clock in a daemon" "rooster/rooster.c:1: time\(\)" banned
finish
