/* starter/remote_words_plan.c - see remote_words_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/remote_words_plan.h"

#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/remote_attrs.h"

/* What roost-rsys-mount ends with, if it was not the job: rsyscall_fuse/mount.h. */
#define MOUNT_FAILED  1
#define MOUNT_LOST    75
#define MOUNT_REFUSED 126

/* The programs begin their messages with one of these. */
static const char *const SPEAKERS[] = {"roost-rsys-mount: ", "roost-ckpt: "};

char *remote_words_plan_route(const char *shadow_route)
{
    size_t length = strlen(REMOTE_SHADOW_PREFIX);
    bool is_prefixed = strncmp(shadow_route, REMOTE_SHADOW_PREFIX, length) == 0;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, REMOTE_ROUTE_PREFIX "%s", shadow_route + (is_prefixed ? length : 0));
    return strbuf_take(&text);
}

bool remote_words_plan_names_tmp(const struct ad *job)
{
    static const char *const NAMES[] = {"Iwd", "Cmd", "In", "Out", "Err"};
    bool found = false;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *path = ad_string_or(job, NAMES[i], "");
        found = found || strncmp(path, "/tmp/", 5) == 0 || strcmp(path, "/tmp") == 0;
    }
    return found;
}

void remote_words_plan_said(const char *text, char *ret, size_t size)
{
    ret[0] = '\0';
    for (const char *line = text; line[0] != '\0';) {
        size_t end = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof SPEAKERS / sizeof SPEAKERS[0]; i++) {
            size_t words = strlen(SPEAKERS[i]);
            if (strncmp(line, SPEAKERS[i], words) == 0) {
                size_t length = end - words < size - 1 ? end - words : size - 1;
                memcpy(ret, line + words, length);
                ret[length] = '\0';
            }
        }
        line += end + (line[end] == '\n' ? 1 : 0);
    }
}

enum remote_end remote_words_plan_end(int status, int signal, const char *said)
{
    if (signal != 0) {
        return said[0] == '\0' ? REMOTE_END_AGAIN : REMOTE_END_JOBS;
    }
    if (said[0] == '\0') {
        return REMOTE_END_JOBS;
    }
    return status == MOUNT_REFUSED                          ? REMOTE_END_REFUSED
           : status == MOUNT_FAILED || status == MOUNT_LOST ? REMOTE_END_AGAIN
                                                            : REMOTE_END_JOBS;
}
