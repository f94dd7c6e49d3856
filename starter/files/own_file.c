/* starter/files/own_file.c - see own_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "starter/files/own_file.h"

#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_below.h"
#include "starter/starter.h"

char *own_file_read(const struct starter *starter, const char *directory, const char *name,
                    size_t max)
{
    struct os *os = starter->env.os;
    struct os_file *file = NULL;
    struct os_stat stat;
    if (os_below_open(os, directory, name, OS_READ, 0, &file, NULL) != 0) {
        return NULL;
    }
    os_file_stat(file, &stat);
    char *text = NULL;
    if (stat.uid == (starter->run.account.change_user ? starter->run.account.uid : os_uid(os))) {
        text = mem_alloc(max + 1);
        ssize_t got = os_file_read(file, 0, text, max);
        text[got > 0 ? got : 0] = '\0';
    }
    os_file_close(file);
    return text;
}
