/* shadow/sandbox_name_plan.c - see sandbox_name_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/sandbox_name_plan.h"

#include <string.h>

#include "transfer/transfer_names.h"

static bool is_below(const char *name, const char *part)
{
    size_t length = strlen(part);
    return strncmp(name, part, length) == 0 && (name[length] == '\0' || name[length] == '/');
}

bool sandbox_name_is_allowed(const char *name, enum sandbox_use use)
{
    if (!transfer_path_is_safe(name)) {
        return false;
    }
    bool is_output = is_below(name, "out") || is_below(name, "log");
    switch (use) {
    case SANDBOX_PUT_FILE:
        return is_below(name, "in") && strchr(name, '/') != NULL;
    case SANDBOX_FETCH:
        return is_output;
    case SANDBOX_PUT_DIRECTORY:
    case SANDBOX_LOOK:
    default:
        return is_output || is_below(name, "in");
    }
}

bool sandbox_id_is_valid(const char *id)
{
    size_t length = strlen(id);
    return length > 0 && length < 32 && strspn(id, "0123456789") == length;
}
