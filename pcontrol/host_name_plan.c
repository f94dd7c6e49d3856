/* pcontrol/host_name_plan.c - see host_name_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/host_name_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"

#define SHOWN_MAX 100 /* bytes of a name in a message */

static bool is_control(char byte)
{
    return (byte >= 0 && byte < ' ') || byte == '\x7f';
}

static const char *what_is_wrong(const char *name)
{
    if (name[0] == '\0') {
        return "it is empty";
    }
    if (name[0] == '-') {
        return "it begins with -";
    }
    for (const char *at = name; *at != '\0'; at++) {
        if (is_control(*at)) {
            return "it has a control character";
        }
    }
    return strchr(name, ' ') != NULL ? "it has a blank" : NULL;
}

int host_name_check(const char *name, struct err *err)
{
    const char *reason = what_is_wrong(name);
    if (reason == NULL) {
        return 0;
    }
    char shown[SHOWN_MAX + 1];
    size_t length = 0;
    for (; name[length] != '\0' && length < SHOWN_MAX; length++) {
        shown[length] = is_control(name[length]) ? '?' : name[length];
    }
    shown[length] = '\0';
    return err_set(err, -EINVAL, "'%s' is not the name of a host: %s", shown, reason);
}
