/* submit/submit_macro.h - replaces $(NAME), $(NAME:default) and $FUNCTION(...) in the values of a
 * submit file.
 *
 * HTCondor's macros. $(NAME) becomes NAME's value, which is expanded in turn.  If NAME is not set
 * or empty, it becomes the default after the ':', or nothing. $$(...) and the like are for the
 * schedd and stay; only a $(...) within is replaced. $(DOLLAR) is a '$' that begins no macro.  What
 * only looks like a macro ("$(two words)", "$foo") stays as it is.
 *
 *     $ENV(NAME[:default])                       the submitter's environment; "UNDEFINED" without
 *     $INT(X[,FORMAT]) $REAL(X[,FORMAT])         a ClassAd expression, or a macro that holds one
 *     $STRING(X[,FORMAT]) $EVAL(X)               the same, as text
 *     $SUBSTR(X,START[,LENGTH])                  negative: from the end
 *     $CHOICE(INDEX,LIST) $CHOICE(INDEX,A,B,...) LIST: a macro that holds a list
 *     $RANDOM_CHOICE(A,B,...) $RANDOM_INTEGER(MIN,MAX[,STEP])
 *     $DIRNAME(X) $BASENAME(X[,SUFFIX]) $Fabdfnpquwx(X)   parts of a path: submit_path.h
 *
 * To add a function, add a row to FUNCTIONS in submit_macro.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_MACRO_H
#define SUBMIT_SUBMIT_MACRO_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;

/* most bytes of a value after expansion, without the terminating zero */
#define SUBMIT_VALUE_MAX ((size_t)1 << 20)
#define SUBMIT_DEPTH_MAX 32     /* most levels of nested macros */
#define SUBMIT_STEPS_MAX 100000 /* most macros replaced in one value */
/* most bytes of values to expand for a job, or while one queue statement is read */
#define SUBMIT_WORK_MAX ((size_t)4 << 20)
/* bytes that each macro counts in SUBMIT_WORK_MAX, besides its text */
#define SUBMIT_MACRO_BYTES 32
/* most bytes of a macro's name, without the terminating zero */
#define SUBMIT_NAME_MAX 255

/* Where macros are looked up.  Each member except lookup may be NULL. */
struct submit_scope {
    /* macro's value as written; NULL: not set */
    const char *(*lookup)(void *arg, const char *name);
    /* value in the submitter's environment; NULL: not set */
    const char *(*env)(void *arg, const char *name);
    uint64_t (*random)(void *arg);
    const char *cwd; /* absolute directory that $Ff() puts before a relative path */
    /* bytes that may still be processed with this scope; submit_expand() counts *work down; NULL:
     * no limit */
    size_t *work;
    void *arg;
};

/* Appends text to out with its macros replaced.  Returns 0; or, with err, -ELOOP (a macro refers to
 * itself), -E2BIG (a limit), -EINVAL (a bad argument of a function). */
int submit_expand(const struct submit_scope *scope, const char *text, struct strbuf *out,
                  struct err *err);

/* Returns text in which only $(name) and $(name:default) of this name are replaced, by old (NULL:
 * not set): the meaning of `opts = $(opts) -q`.  Freed with mem_free(); NULL when it is longer than
 * SUBMIT_VALUE_MAX. */
char *submit_expand_self(const char *name, const char *old, const char *text);

#endif
