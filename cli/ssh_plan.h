/* cli/ssh_plan.h - the escape keys of `roost ssh`: "~." at the beginning of a line ends the
 * session.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SSH_PLAN_H
#define CLI_SSH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ssh_escape {
    /* inside: a key of the current line was sent; tilde: the line's first key was "~", which is
     * not sent yet */
    bool inside, tilde;
};

/* Copies the keys to send from in to out (which has 2 * length bytes) and sets *ret to their
 * number; "~~" sends one "~".  False: "~." was typed, the session ends, and further keys are
 * ignored. */
bool ssh_escape_keys(struct ssh_escape *escape, const char *in, size_t length, char *out,
                     size_t *ret);

#endif
