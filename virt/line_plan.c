/* virt/line_plan.c - see line_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "virt/line_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"

static const char *const VERBS[] = {"wake", "sleep", "status", "cancel", "watch", "unwatch"};
static const char *const HOWS[] = {"shutdown", "acpi", "agent",  "save",
                                   "suspend",  "disk", "destroy"};

/* Cuts off the next word; false when there is none. */
static bool next_word(const char **rest, char ret[32])
{
    size_t length = strcspn(*rest, " ");
    if (length == 0 || length >= 32 || (*rest)[length] == '\0') {
        return false;
    }
    memcpy(ret, *rest, length);
    ret[length] = '\0';
    *rest += length + 1;
    return true;
}

static bool next_number(const char **rest, uint64_t max, uint64_t *ret)
{
    char text[32], *end;
    if (!next_word(rest, text) || text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0 || value > max) {
        return false;
    }
    *ret = value;
    return true;
}

static bool next_choice(const char **rest, const char *const *names, size_t count, unsigned *ret)
{
    char text[32];
    if (!next_word(rest, text)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = (unsigned)i;
            return true;
        }
    }
    return false;
}

int virt_line_parse(const char *text, struct virt_line *ret, struct err *err)
{
    struct virt_line line = {0};
    uint64_t patience_s = 0, limit_s = 0;
    unsigned verb = 0, how = 0;
    const char *rest = text;
    if (!next_number(&rest, UINT64_MAX, &line.id)) {
        return err_set(err, -EINVAL, "'%.60s': a line must begin with a number", text);
    }
    if (!next_choice(&rest, VERBS, ARRAY_COUNT(VERBS), &verb)) {
        return err_set(
            err, -EINVAL,
            "'%.60s': unknown verb; expected wake, sleep, status, cancel, watch or unwatch", text);
    }
    line.verb = (enum virt_verb)verb;
    if (line.verb == VIRT_SLEEP && (!next_choice(&rest, HOWS, ARRAY_COUNT(HOWS), &how) ||
                                    !next_number(&rest, VIRT_TIME_MAX_S, &patience_s))) {
        return err_set(
            err, -EINVAL,
            "'%.60s': sleep needs a way (shutdown, acpi, agent, save, suspend, disk or destroy) "
            "and a number of seconds",
            text);
    }
    if (line.verb <= VIRT_STATUS && !next_number(&rest, VIRT_TIME_MAX_S, &limit_s)) {
        return err_set(err, -EINVAL, "'%.60s': the limit is not a number of seconds", text);
    }
    size_t length = strlen(rest);
    if (length == 0 || length >= sizeof line.domain) {
        return err_set(err, -EINVAL, "'%.60s': the name of a domain has 1 to %d characters", text,
                       VIRT_DOMAIN_MAX - 1);
    }
    line.how = (enum virt_how)how;
    line.patience_s = (uint32_t)patience_s;
    line.limit_s = (uint32_t)limit_s;
    memcpy(line.domain, rest, length);
    *ret = line;
    return 0;
}
