/* submit/submit_condition.h - the condition of an if: HTCondor's few forms.
 *
 *     [!] true | false | yes | no | t | f | NUMBER
 *     [!] defined NAME
 *     [!] version >= 8.1.6         (also <, <=, >, ==, !=)
 *     [!] $(MACRO)                 one of the above when it is replaced; nothing: false
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_CONDITION_H
#define SUBMIT_SUBMIT_CONDITION_H

#include <stdbool.h>

struct err;
struct submit_scope;

/* -EINVAL: it is none, err says why without the line. */
int submit_condition(const struct submit_scope *scope, const char *text, bool *ret,
                     struct err *err);

#endif
