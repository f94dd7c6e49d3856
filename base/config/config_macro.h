/* base/config/config_macro.h - finds $(NAME) in texts.
 *
 *     $(NAME)  $(NAME:default)  $ENV(NAME)  $ENV(NAME:default)
 *
 * A default may contain macros itself.  "$$(" is left alone: it is replaced later, when a job is
 * matched.  Any other $WORD( is refused, because in HTCondor it would be a function.
 *
 * Only text is handled here: the caller knows what a name stands for.
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
    size_t start, end; /* the reference is text[start..end) of the text given to macro_next() */
    const char *name;  /* not zero-terminated */
    size_t name_length;
    const char *fallback; /* the default after ':', not zero-terminated; NULL: none */
    size_t fallback_length;
    bool environment; /* true: $ENV(NAME); false: $(NAME) */
};

/* Finds the next reference in text[at..length).  Returns 1 and sets *ret; 0: no reference is left;
 * -EINVAL: malformed, err is set. */
int macro_next(const char *text, size_t length, size_t at, struct macro_reference *ret,
               struct err *err);

/* Copies text to out and replaces each reference to the macro `self` by its earlier value `old`;
 * if old is NULL, by the reference's own default, or by nothing.  References inside the defaults
 * of other macros are replaced, too.  Returns 0 or -EINVAL (malformed). */
int macro_replace_self(const char *text, const char *self, const char *old, struct strbuf *out,
                       struct err *err);

/* Calls each() with the name (not zero-terminated, `length` bytes) of every reference in text, also
 * of those inside defaults, but not of $ENV references.  Returns 0 or -EINVAL (malformed). */
int macro_each(const char *text, void (*each)(void *arg, const char *name, size_t length),
               void *arg, struct err *err);

#endif
