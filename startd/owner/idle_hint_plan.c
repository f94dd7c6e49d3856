/* startd/owner/idle_hint_plan.c - see idle_hint_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/idle_hint_plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct block { /* of one session */
    bool is_wayland, is_told, is_idle;
    int64_t since_s; /* 0: never said */
};

static void take_line(struct block *block, const char *line, size_t length)
{
    static const char TYPE[] = "Type=wayland", HINT[] = "IdleHint=", SINCE[] = "IdleSinceHint=";
    if (length == sizeof TYPE - 1 && strncmp(line, TYPE, length) == 0) {
        block->is_wayland = true;
    } else if (strncmp(line, HINT, sizeof HINT - 1) == 0) {
        block->is_told = true;
        block->is_idle = strncmp(line + sizeof HINT - 1, "yes", 3) == 0;
    } else if (strncmp(line, SINCE, sizeof SINCE - 1) == 0) { /* microseconds */
        block->since_s = (int64_t)(strtoull(line + sizeof SINCE - 1, NULL, 10) / 1000000);
    }
}

static int64_t idle_of(const struct block *block, int64_t now_s)
{
    if (!block->is_told || (block->since_s == 0 && !block->is_wayland)) {
        return -1;
    }
    return !block->is_idle || block->since_s > now_s ? 0 : now_s - block->since_s;
}

int64_t idle_hint_plan_idle_s(const char *text, int64_t now_s)
{
    int64_t least_s = -1;
    struct block block = {.since_s = 0};
    for (const char *line = text;;) {
        size_t length = strcspn(line, "\n");
        if (length > 0) {
            take_line(&block, line, length);
        } else { /* the end of a block */
            int64_t idle_s = idle_of(&block, now_s);
            least_s = idle_s >= 0 && (least_s < 0 || idle_s < least_s) ? idle_s : least_s;
            block = (struct block){.since_s = 0};
        }
        if (line[length] == '\0') {
            if (length == 0) {
                return least_s;
            }
            line += length; /* the last block may end without a newline */
        } else {
            line += length + 1;
        }
    }
}
