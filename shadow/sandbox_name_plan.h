/* shadow/sandbox_name_plan.h - which names a client may name below the sandbox of a cluster.
 *
 * Pure.  The client is anybody with a ticket: a name is only used after this.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_SANDBOX_NAME_PLAN_H
#define SHADOW_SANDBOX_NAME_PLAN_H

#include <stdbool.h>

enum sandbox_use {
    SANDBOX_PUT_FILE,      /* input comes */
    SANDBOX_PUT_DIRECTORY, /* a directory is made */
    SANDBOX_LOOK,          /* by who spools */
    SANDBOX_FETCH          /* by who fetches output */
};
bool sandbox_name_is_allowed(const char *name, enum sandbox_use use);
/* "12", at most 31 digits: of a cluster. */
bool sandbox_id_is_valid(const char *id);

#endif
