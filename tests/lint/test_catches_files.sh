#!/bin/bash
# The check lint.files finds planted mistakes.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

good() {
    printf '/* wire/call.c - a good file.\n *\n * SPDX-License-Identifier: Apache-2.0\n */\n'
}

new_tree
good | plant wire/call.c
passes "a good file" files

plant rooster/README.md < <(printf '| %0120d |\n    %0120d\n# %0120d\n' 1 2 3)
passes "a table, code and a heading that are wide" files
plant rooster/README.md < <(printf -- '- %0119d\n' 1)
finds "a line of prose that is too long" "rooster/README.md:1: the line has 121 columns, prose" files
rm "$TREE/rooster/README.md"
{ good; printf 'int a;\tint b;\n'; } | plant wire/call.c
finds "a tab" "wire/call.c:5: a tab" files
{ good; printf 'int a; \n'; } | plant wire/call.c
finds "a blank at the end" "wire/call.c:5: blanks at the end" files
{ good; printf '/* %0100d */\n' 1; } | plant wire/call.c
finds "a long line" "wire/call.c:5: the line has 106 columns, C" files
{ good; printf 'int a;'; } | plant wire/call.c
finds "a last line without an end" "wire/call.c:5: the last line does not end" files
{ good; printf 'const char *home = "/%s/me/x";\n' root; } | plant wire/call.c
finds "a path of a machine" "wire/call.c:5: '/ro[o]t/m'" files
{ good; seq 1500 | sed 's/.*/int a&;/'; } | plant wire/call.c
finds "a file that is too long" "wire/call.c:1500: the file has 1504 lines" files
{ good; echo 'int f(void)'; echo '{'; seq 121 | sed 's/.*/    g(&);/'; echo '}'; } | plant wire/call.c
finds "a function that is too long" "wire/call.c:6: the function has 121 lines" files
{ good; echo 'int f(void)'; echo '{'; seq 120 | sed 's/.*/    g(&);/'; echo '}'; } | plant wire/call.c
passes "a function that is just short enough" files
plant wire/call.c <<<'/* wire/call.c - no licence */'
finds "no licence" "wire/call.c:1: add 'SPDX" files
plant wire/call.c <<<'/* SPDX-License-Identifier: Apache-2.0 */'
finds "no purpose" "wire/call.c:1: the file must begin with" files
finish
