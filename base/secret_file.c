/* base/secret_file.c - see secret_file.h.  The open file is checked, not its path, so it cannot be
 * exchanged in between.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/secret_file.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"

#define OF_OTHERS 0077

void secret_wipe(void *data, size_t length)
{
    if (length > 0) { /* else data may be NULL */
        explicit_bzero(data, length);
    }
}

void secret_free(char *text)
{
    if (text != NULL) {
        secret_wipe(text, strlen(text));
        mem_free(text);
    }
}

static int judge_file(struct os *os, const struct os_file *file, const char *path, struct err *err)
{
    struct os_stat stat = {0};
    os_file_stat(file, &stat);
    if (!stat.is_file) {
        return err_set(err, -EINVAL, "%s: a file with a secret must be a regular file", path);
    }
    if (stat.uid != 0 && stat.uid != os_uid(os)) {
        return err_set(
            err, -EACCES,
            "%s: this file with a secret belongs to another user; change its owner (chown)", path);
    }
    if ((stat.mode & OF_OTHERS) != 0) {
        return err_set(err, -EACCES,
                       "%s: other users can access this file with a secret; run chmod 0600", path);
    }
    return 0;
}

static size_t without_space_at_end(const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL && text[length - 1] != '\0') {
        length--;
    }
    return length;
}

int secret_file_read(struct os *os, const char *path, char *ret, size_t size, struct err *err)
{
    struct os_file *file;
    char text[SECRET_FILE_MAX + 1];
    CHECK(size > 0 && size <= SECRET_FILE_MAX);
    int rc = os_file_open(os, path, OS_READ, 0, &file, err);
    if (rc != 0) {
        return rc;
    }
    rc = judge_file(os, file, path, err);
    ssize_t length = rc == 0 ? os_file_read(file, 0, text, sizeof text) : 0;
    os_file_close(file);
    if (rc == 0 && length < 0) {
        rc = err_set(err, (int)length, "%s: %s", path, err_code_text((int)length));
    }
    size_t used = rc == 0 ? without_space_at_end(text, (size_t)length) : 0;
    if (rc == 0 && (used == 0 || used >= size || memchr(text, '\0', used) != NULL)) {
        rc = err_set(err, -EINVAL, "%s: expected a secret of 1 to %zu characters", path, size - 1);
    }
    if (rc == 0) {
        memcpy(ret, text, used);
        ret[used] = '\0';
    }
    secret_wipe(text, sizeof text);
    return rc;
}
