#!/bin/bash
# The check lint.hardening finds programs that were built without one of the protections.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

GOOD=(-O2 -fPIE -pie -fstack-protector-all -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 '-Wl,-z,relro,-z,now,-z,noexecstack')
new_tree
cat >"$WORK/x.c" <<'END'
#include <stdio.h>
#ifdef SEGMENT
__asm__(".section .both, \"awx\", @progbits; .quad 1; .text");
#endif
int main(int argc, char **argv)
{
    char text[8];
    (void)snprintf(text, (size_t)argc, "%s", argv[0]);
    return text[0];
}
END

# build FLAG...: the program with these flags behind those of a good one.
build() {
    cc "${GOOD[@]}" "$@" -o "$WORK/x" "$WORK/x.c" || { echo "cc $* failed"; exit 1; }
}

build
passes "a good program" hardening "$WORK/x"
build -static-pie
passes "a good static program" hardening "$WORK/x"
build -no-pie -fno-pie
finds "a program at a fixed address" ".*x: not position independent" hardening "$WORK/x"
build -Wl,-z,norelro
finds "tables that stay writable" ".*x: no RELRO" hardening "$WORK/x"
build -Wl,-z,lazy
finds "symbols that are bound late" ".*x: symbols are bound late" hardening "$WORK/x"
build -Wl,-z,execstack
finds "an executable stack" ".*x: its stack is executable" hardening "$WORK/x"
build -DSEGMENT 2>/dev/null
finds "a segment for everything" ".*x: a segment is writable and executable" hardening "$WORK/x"
build -fno-stack-protector
finds "no stack protector" ".*x: no stack protector" hardening "$WORK/x"
build -U_FORTIFY_SOURCE
finds "no checks of the C library" ".*x: no checks of _FORTIFY_SOURCE" hardening "$WORK/x"
finds "a file of another kind" ".*x.c: not an ELF file" hardening "$WORK/x.c"
finds "no file" "lint.hardening: no files" hardening

if [ "$(uname -m)" = x86_64 ]; then
    for protection in full none; do
        cc -c -fcf-protection=$protection -o "$WORK/x.o" "$WORK/x.c" && ar cr "$WORK/$protection.a" "$WORK/x.o" || exit 1
    done
    passes "a marked object" hardening --cet "$WORK/full.a"
    finds "an object without marks" ".*none.a: x.o is not marked for IBT and SHSTK" hardening --cet "$WORK/none.a"
    passes "an object of a compiler without them" hardening "$WORK/none.a"
fi
finish
