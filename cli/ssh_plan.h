/* cli/ssh_plan.h - what is typed into `roost ssh`: "~." at the beginning of a line ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SSH_PLAN_H
#define CLI_SSH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ssh_escape {
    bool inside, tilde; /* a line has begun; its first key was "~" */
};

/* Writes to out (2 * length bytes) what is to be sent of in, and how much that is to *ret; "~~" is
 * one "~".  False: "~." was typed: it is over, and the rest does not count. */
bool ssh_escape_keys(struct ssh_escape *escape, const char *in, size_t length, char *out,
                     size_t *ret);

#endif
