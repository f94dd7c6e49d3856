/* shadow/sandbox_name_plan.h - decides which file names a client may use below the sandbox of a
 * spooled cluster.
 *
 * Pure.  The client may be anybody with a ticket, so each name is checked here before it is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_SANDBOX_NAME_PLAN_H
#define SHADOW_SANDBOX_NAME_PLAN_H

#include <stdbool.h>

enum sandbox_use {
    SANDBOX_PUT_FILE,      /* store an input file */
    SANDBOX_PUT_DIRECTORY, /* make a directory */
    SANDBOX_LOOK,          /* list files, by a client that spools input */
    SANDBOX_FETCH          /* list or read files, by a client that fetches output */
};
/* Returns whether the name (relative to the sandbox) may be used in this way. */
bool sandbox_name_is_allowed(const char *name, enum sandbox_use use);
/* Returns whether id is the id of a cluster: 1 to 31 digits. */
bool sandbox_id_is_valid(const char *id);

#endif
