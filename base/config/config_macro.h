/* base/config/config_macro.h - finding $(NAME) in texts.
 *
 * Pure text work: what a name stands for is the caller's business.
 *
 *     $(NAME)  $(NAME:default)  $ENV(NAME)  $ENV(NAME:default)      the default may hold macros
 * itself
 *
 * "$$(" is left alone: it is for the negotiation of a job (or, in HTCondor's words, for match
 * time).  Any other $WORD( is refused, because in HTCondor it would be a function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_MACRO_H
#define BASE_CONFIG_CONFIG_MACRO_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct strbuf;

struct macro_reference {
    size_t start, end; /* the bytes of the text it takes: text[start..end) */
    const char *name;  /* not zero-terminated */
    size_t name_length;
    const char *fallback; /* NULL if there is none; not zero-terminated */
    size_t fallback_length;
    bool environment; /* $ENV() */
};

/* The next reference in text[at..length).  Returns 1 and *ret; 0 if there is none; -EINVAL and err.
 */
int macro_next(const char *text, size_t length, size_t at, struct macro_reference *ret,
               struct err *err);

/* Copies text, with every reference to self, also inside defaults of others, replaced by old; by
 * its own default if old is NULL; by nothing if it has none.  Returns 0 or -EINVAL. */
int macro_replace_self(const char *text, const char *self, const char *old, struct strbuf *out,
                       struct err *err);

/* Calls each for the name of every reference, also those inside defaults, $ENV apart. */
int macro_each(const char *text, void (*each)(void *arg, const char *name, size_t length),
               void *arg, struct err *err);

#endif
