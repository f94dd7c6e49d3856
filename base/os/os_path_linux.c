/* base/os/os_path_linux.c - paths from the root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

int os_absolute(struct os *os, const char *path, char **ret, struct err *err)
{
    (void)os;
    if (path[0] == '/') {
        *ret = mem_strdup(path);
        return 0;
    }
    char directory[PATH_MAX];
    if (!getcwd(directory, sizeof(directory))) {
        int rc = -errno;
        return err_set(err, rc, "%s: cannot find out the working directory: %s", path,
                       err_code_text(rc));
    }
    while (path[0] == '.' && path[1] == '/') {
        path += 2;
    }
    struct strbuf whole;
    strbuf_init(&whole, 0);
    strbuf_printf(&whole, "%s/%s", directory[1] ? directory : "", path);
    char *text = strbuf_take(&whole);
    if (!text) {
        return err_set(err, -ENOMEM, "%.80s: the path is too long", path);
    }
    *ret = text;
    return 0;
}
