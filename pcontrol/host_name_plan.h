/* pcontrol/host_name_plan.h - what may be the name of a host.
 *
 * The name becomes a word of the command that leads to the host, which must not take it for an
 * option, and it is shown on terminals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_HOST_NAME_PLAN_H
#define PCONTROL_HOST_NAME_PLAN_H

struct err;

/* Returns 0; or -EINVAL with err naming the name, with ? for control characters, and the reason: it
 * is empty, begins with -, or has a blank or a control character. */
int host_name_check(const char *name, struct err *err);

#endif
