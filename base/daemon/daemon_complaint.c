/* base/daemon/daemon_complaint.c - see daemon_complaint.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon_complaint.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"

#define FILE_BYTES_MAX ((size_t)1 << 20) /* a sanitizer's report is long */
#define PATH_BYTES     4200

void daemon_complaint_path(const char *lock_dir, const char *name, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s/%s.stderr", lock_dir, name);
}

bool daemon_complaint_read(struct os *os, const char *lock_dir, const char *name,
                           char why[DAEMON_COMPLAINT_MAX])
{
    char path[PATH_BYTES];
    char *text = NULL;
    size_t length = 0;
    why[0] = '\0';
    daemon_complaint_path(lock_dir, name, path, sizeof path);
    if (os_read_file(os, path, FILE_BYTES_MAX, &text, &length, NULL) != 0) {
        return false;
    }
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\0')) {
        text[--length] = '\0';
    }
    const char *line = strrchr(text, '\n');
    (void)snprintf(why, DAEMON_COMPLAINT_MAX, "%s", line != NULL ? line + 1 : text);
    mem_free(text);
    return why[0] != '\0';
}

void daemon_complaint_write(struct os *os, const char *lock_dir, const char *name, const char *why)
{
    char path[PATH_BYTES];
    struct strbuf line;
    daemon_complaint_path(lock_dir, name, path, sizeof path);
    strbuf_init(&line, 0);
    strbuf_printf(&line, "%s%s", why, why[0] != '\0' ? "\n" : "");
    (void)os_rewrite_file(os, path, strbuf_text(&line), line.length, 0644, NULL);
    strbuf_fini(&line);
}
