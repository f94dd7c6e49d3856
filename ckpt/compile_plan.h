/* ckpt/compile_plan.h - what roost-compile makes of a compiler's command, so that the program can
 * make checkpoint images of itself.
 *
 * Pure.  The command may be that of any compiler driver (cc, g++, gfortran, clang, mpicc, with a
 * cross prefix or ccache in front) or of a linker.  Our library is one object file.  A driver gets
 * it as an argument for its linker, after all other arguments but before the driver's own
 * libraries: so a static program finds what the object needs, and no -x option applies to it.  A
 * linker gets it first.  A command that does not link a program (-c, -shared, --version ...) is not
 * changed, so that `make CC='roost-compile cc'` works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMPILE_PLAN_H
#define CKPT_COMPILE_PLAN_H

#include <stdbool.h>

#define COMPILE_PLAN_MORE 9 /* arguments that are added at most, the NULL at the end included */

struct compile_plan {
    bool is_linker;
    bool links; /* it links a program; false: only the path of our headers is added */
    /* The program's file, borrowed; NULL: a file of arguments (@FILE) may name it. */
    const char *output;
};

/* Analyses the command argv[0..argc).  Returns NULL; or, as static text, why it is not a command of
 * a compiler or linker. */
const char *compile_plan_read(int argc, const char *const *argv, struct compile_plan *ret);
/* Writes the changed command into ret, which has room for argc + COMPILE_PLAN_MORE. object: our
 * library; remote: another object to link with it, or NULL; include: the path of our headers. */
void compile_plan_fill(const struct compile_plan *plan, int argc, const char *const *argv,
                       const char *object, const char *remote, const char *include,
                       const char **ret);

#endif
