/* ckpt/proc_linux.c - reads what /proc says about a process: see proc_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/proc_linux.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

#define CHUNK 4096

int proc_read(pid_t pid, const char *name, struct strbuf *text)
{
    char path[128], chunk[CHUNK];
    size_t got;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -errno;
    }
    strbuf_clear(text);
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        strbuf_append(text, chunk, got);
    }
    int rc = ferror(file) != 0 ? -EIO : text->failed ? -E2BIG : 0;
    (void)fclose(file);
    return rc;
}

uint64_t proc_word(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, base) : 0;
}

pid_t proc_innermost(pid_t pid, pid_t tid, const char *name)
{
    char path[64], line[512];
    long number = -1;
    if (tid == 0) {
        (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    } else {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    }
    FILE *status = fopen(path, "re");
    while (status != NULL && number < 0 && fgets(line, sizeof line, status) != NULL) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, name, strlen(name)) == 0 && last != NULL) {
            number = strtol(last, NULL, 10);
        }
    }
    if (status != NULL) {
        (void)fclose(status);
    }
    return (pid_t)number;
}
