/* submit/submit_macro.h - $(NAME), $(NAME:default) and $FUNCTION(...) in the values of a submit
 * file.
 *
 * HTCondor's macros.  $(NAME) becomes NAME's value, expanded in turn; where it is not set or empty,
 * the default after the ':', or nothing.  $$(...) and its like are for the schedd and stay; only
 * what is written as $(...) within is replaced.  $(DOLLAR) is a '$' that begins nothing.  What
 * looks like a macro and is none ("$(two words)", "$foo") stays as it is.
 *
 *     $ENV(NAME[:default])                       the submitter's environment; "UNDEFINED" without
 *     $INT(X[,FORMAT]) $REAL(X[,FORMAT])         a ClassAd expression, or a macro that holds one
 *     $STRING(X[,FORMAT]) $EVAL(X)               the same, as text
 *     $SUBSTR(X,START[,LENGTH])                  negative: from the end
 *     $CHOICE(INDEX,LIST) $CHOICE(INDEX,A,B,...) LIST: a macro that holds a list
 *     $RANDOM_CHOICE(A,B,...) $RANDOM_INTEGER(MIN,MAX[,STEP])
 *     $DIRNAME(X) $BASENAME(X[,SUFFIX]) $Fabdfnpquwx(X)   parts of a path: submit_path.h
 *
 * To add a function: a row in FUNCTIONS of submit_macro.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_MACRO_H
#define SUBMIT_SUBMIT_MACRO_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;

#define SUBMIT_VALUE_MAX   ((size_t)1 << 20) /* bytes of a value after expansion */
#define SUBMIT_DEPTH_MAX   32                /* of macros in macros */
#define SUBMIT_STEPS_MAX   100000            /* macros replaced in one value */
#define SUBMIT_WORK_MAX    ((size_t)4 << 20) /* bytes looked at: of a job, of a reading */
#define SUBMIT_MACRO_BYTES 32                /* what replacing a macro counts of that, besides */
#define SUBMIT_NAME_MAX    255               /* bytes of a macro's name */

/* What a value may look at.  Any member but lookup may be NULL. */
struct submit_scope {
    const char *(*lookup)(void *arg, const char *name); /* as it is written; NULL: not set */
    const char *(*env)(void *arg, const char *name);    /* NULL: not set */
    uint64_t (*random)(void *arg);
    const char *cwd; /* for $Ff(); absolute */
    size_t *work;    /* bytes that may still be looked at, in all calls together; NULL: no limit */
    void *arg;
};

/* Appends text to out with its macros replaced.  -ELOOP: a macro refers to itself; -E2BIG: a limit;
 * -EINVAL: a function's argument is none. */
int submit_expand(const struct submit_scope *scope, const char *text, struct strbuf *out,
                  struct err *err);

/* text with only $(name) and $(name:default) of that very name replaced, by old (NULL: not set):
 * what `opts = $(opts) -q` means.  mem_free it; NULL when it is longer than SUBMIT_VALUE_MAX. */
char *submit_expand_self(const char *name, const char *old, const char *text);

#endif
