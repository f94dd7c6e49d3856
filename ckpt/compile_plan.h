/* ckpt/compile_plan.h - changes a compiler's command for roost-compile, so that the compiled
 * program can make checkpoint images of itself.
 *
 * Pure.  The command may be that of any compiler driver (cc, g++, gfortran, clang, mpicc, with a
 * cross prefix or ccache in front) or of a linker.  The checkpoint library is one object file.  A
 * driver gets the library as an argument for its linker, after all other arguments but before the
 * driver's own libraries: so a static program finds what the object needs, and no -x option
 * applies to the object.  A linker gets the library first.  A command that does not link a
 * program (-c, -shared, --version ...) is not changed, so that `make CC='roost-compile cc'`
 * works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMPILE_PLAN_H
#define CKPT_COMPILE_PLAN_H

#include <stdbool.h>

/* compile_plan_fill() writes at most argc + COMPILE_PLAN_MORE array elements, the NULL at the end
 * included. */
#define COMPILE_PLAN_MORE 9

struct compile_plan {
    bool is_linker;
    /* true: the command links a program; false: only -I for the library's headers is added */
    bool links;
    /* The file that the command writes the program to; borrowed.  NULL: not known, because the
     * command reads further arguments from a file (@FILE). */
    const char *output;
};

/* Analyses the command argv[0..argc) and fills *ret.  Returns NULL; or, if it is not a command of a
 * compiler or linker, the reason as a static text. */
const char *compile_plan_read(int argc, const char *const *argv, struct compile_plan *ret);
/* Writes the changed command into ret, which has room for argc + COMPILE_PLAN_MORE elements.
 * object: the object file of the checkpoint library; remote: a second object file to link (the
 * wrapped file calls of rsyscall/wrap), or NULL; include: the directory of the library's
 * headers. */
void compile_plan_fill(const struct compile_plan *plan, int argc, const char *const *argv,
                       const char *object, const char *remote, const char *include,
                       const char **ret);

#endif
