/* base/daemon/daemon_down.c - see daemon_down.h.  Two lines: the boot's id, the reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon_down.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"

#define PATH_BYTES_MAX 4200 /* most bytes of a path, with the terminating zero */
/* most bytes of the note in the file, with the terminating zero */
#define NOTE_BYTES_MAX (OS_BOOT_ID_SIZE + DAEMON_DOWN_WHY_MAX + 2)

static void path_of(const struct config *config, const char *name, char path[PATH_BYTES_MAX])
{
    (void)snprintf(path, PATH_BYTES_MAX, "%s/%s.down", config_path(config, "LOCK"), name);
}

int daemon_down_write(struct os *os, const struct config *config, const char *name, const char *why,
                      struct err *err)
{
    char path[PATH_BYTES_MAX], note[NOTE_BYTES_MAX];
    struct os_machine machine;
    int rc = os_machine(os, &machine, err);
    if (rc != 0) {
        return rc;
    }
    path_of(config, name, path);
    int length =
        snprintf(note, sizeof note, "%s\n%.*s\n", machine.boot_id, DAEMON_DOWN_WHY_MAX - 1, why);
    return os_write_file(os, path, note, (size_t)length, 0644, true, err);
}

bool daemon_down_read(struct os *os, const struct config *config, const char *name, bool *same_boot,
                      char why[DAEMON_DOWN_WHY_MAX])
{
    char path[PATH_BYTES_MAX], *note = NULL;
    struct os_machine machine;
    size_t length;
    path_of(config, name, path);
    int rc = os_read_file(os, path, NOTE_BYTES_MAX, &note, &length, NULL);
    if (rc == -ENOENT) {
        return false;
    }
    *same_boot = true;
    (void)snprintf(why, DAEMON_DOWN_WHY_MAX, "unknown: the .down file in LOCK cannot be read");
    char *end = rc == 0 ? strchr(note, '\n') : NULL;
    if (end != NULL) {
        *end = '\0';
        *same_boot = os_machine(os, &machine, NULL) != 0 || strcmp(note, machine.boot_id) == 0;
        (void)snprintf(why, DAEMON_DOWN_WHY_MAX, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    }
    mem_free(note);
    return true;
}

int daemon_down_remove(struct os *os, const struct config *config, const char *name,
                       struct err *err)
{
    char path[PATH_BYTES_MAX];
    path_of(config, name, path);
    return os_remove(os, path, err);
}
