/* ckpt/compile_plan.h - what a compiler's command becomes when its program shall make images of
 * itself.
 *
 * Pure.  A command of any compiler driver (cc, g++, gfortran, clang, mpicc, with a cross prefix or
 * ccache before it) or of a linker.  The library is one object: a driver gets it as an argument for
 * its linker, behind all others (before its own libraries, so that a static program finds what the
 * object needs; and no -x applies to it); a linker gets it first.  A command that does not link a
 * program (-c, -shared, --version ...) stays what it is, so that `make CC='roost-compile cc'`
 * works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMPILE_PLAN_H
#define CKPT_COMPILE_PLAN_H

#include <stdbool.h>

#define COMPILE_PLAN_MORE 9 /* arguments that are added at most, with the NULL at the end */

struct compile_plan {
    bool is_linker;
    bool links;         /* it makes a program; else only the path of headers is added */
    const char *output; /* which one, borrowed; NULL: a file of arguments (@FILE) may tell */
};

/* argv[0..argc) is the command.  Returns NULL, or why this is not a command of a compiler or linker
 * (static text). */
const char *compile_plan_read(int argc, const char *const *argv, struct compile_plan *ret);
/* The command with the library: ret has room for argc + COMPILE_PLAN_MORE.  remote: another object
 * that goes with it, or NULL. */
void compile_plan_fill(const struct compile_plan *plan, int argc, const char *const *argv,
                       const char *object, const char *remote, const char *include,
                       const char **ret);

#endif
