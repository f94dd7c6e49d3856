/* submit/submit_condition.h - evaluates the condition of an `if` in a submit file, in one of
 * HTCondor's few forms.
 *
 *     [!] true | false | yes | no | t | f | NUMBER
 *     [!] defined NAME
 *     [!] version >= 8.1.6         (also <, <=, >, ==, !=)
 *     [!] $(MACRO)                 its value is one of the above; an empty value: false
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_CONDITION_H
#define SUBMIT_SUBMIT_CONDITION_H

#include <stdbool.h>

struct err;
struct submit_scope;

/* Evaluates the condition in text; scope tells where its macros are looked up.  Returns 0 and sets
 * *ret; or -EINVAL with err, which gives the reason but not the line. */
int submit_condition(const struct submit_scope *scope, const char *text, bool *ret,
                     struct err *err);

#endif
