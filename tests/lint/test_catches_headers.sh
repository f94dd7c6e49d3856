#!/bin/bash
# The checks lint.headers, lint.format, lint.clang and lint.shell find planted mistakes.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
plant wire/x.h <<'END'
#ifndef WIRE_X_H
#define WIRE_X_H
#include <stddef.h>
size_t x(void);
#endif
END
passes "a header that stands alone" headers
passes "a formatted header" format

plant wire/x.h <<'END'
#ifndef WIRE_X_H
#define WIRE_X_H
size_t x(void);
#endif
END
finds "a header that needs another" "wire/x.h:3: .*size_t.*compiled alone" headers
plant wire/x.c <<<'#include "wire/x.h"'
passes "a header that its C file includes first, so that the build checks it" headers
plant wire/x.c <<<'#include <stddef.h>
#include "wire/x.h"'
finds "a header that its C file includes behind what it needs" "wire/x.h:3: .*size_t.*compiled alone" headers
rm "$TREE/wire/x.c"
plant wire/x.h <<'END'
#ifndef X_H
#define X_H
#endif
END
finds "a guard of another name" "wire/x.h:1: the include guard must be WIRE_X_H" headers
plant wire/x.h <<'END'
#ifndef WIRE_X_H
#define WIRE_X_H
int  x( void );
#endif
END
finds "a badly formatted header" "wire/x.h:3: not formatted as clang-format does" format

plant wire/x.c <<'END'
int x(void);
int x(void) { return 0; }
END
passes "a good C file" clang
plant wire/x.c <<<'int x(void) { return 0; }'
finds "a function without prototype" "wire/x.c:1: no previous prototype" clang
plant wire/x.c <<<'#include "wire/none.h"'
finds "an include of nothing" "wire/x.c:1: .*file not found" clang

passes "our scripts" shell
plant tests/x.sh <<<'if then'
finds "a script that does not parse" "tests/x.sh:1:" shell
plant tests/x.sh <<<'rm -rf $1/*'
finds "an unquoted word" "tests/x.sh:1:" shell
finish
