/* ckpt/command_archive_linux.c - roost-ckpt join: an archive and what changed since, as one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "ckpt/archive_linux.h"
#include "ckpt/command_linux.h"
#include "ckpt/new_file_linux.h"
#include "ckpt/pack_linux.h"

#define FAILED 1
#define USAGE  2

static int failed(const char *name, struct err *err)
{
    int rc = -errno;
    return err_set(err, rc, "%s: %s", name, err_code_text(rc));
}

/* One that is packed is unpacked, into a file without a name beside what is made. */
static int open_archive(const char *name, const char *out, struct err *err)
{
    char path[PATH_MAX];
    if (!pack_is_packed(name)) {
        int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        return fd < 0 ? failed(name, err) : fd;
    }
    if ((size_t)snprintf(path, sizeof path, "%s.XXXXXX", out) >= sizeof path) {
        return err_set(err, -ENAMETOOLONG, "%s: the name is too long", out);
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return failed(path, err);
    }
    (void)unlink(path);
    int rc = unpack_into(name, fd, name, INT64_MAX, err);
    if (rc != 0) {
        (void)close(fd);
    }
    return rc != 0 ? rc : fd;
}

static int join_into(char **names, const char *plain, uint64_t *bytes, struct err *err)
{
    struct new_file file;
    int before = open_archive(names[0], plain, err);
    int changes = before >= 0 ? open_archive(names[1], plain, err) : -1;
    int rc = before < 0 ? before : changes < 0 ? changes : new_file_open(&file, plain, false, err);
    if (rc == 0) {
        rc = archive_merge(before, names[0], changes, names[1], file.fd, plain, bytes, err);
        rc = rc != 0 ? rc : new_file_commit(&file, 0600, err);
        new_file_close(&file, false);
    }
    if (before >= 0) {
        (void)close(before);
    }
    if (changes >= 0) {
        (void)close(changes);
    }
    return rc;
}

int ckpt_join_command(int argc, char **argv)
{
    struct err err = {.text = ""};
    char plain[PATH_MAX];
    uint64_t bytes = 0;
    bool pack = argc > 2 && strcmp(argv[2], "--pack") == 0;
    int first = pack ? 3 : 2;
    if (argc - first != 3) {
        return USAGE;
    }
    const char *out = argv[argc - 1];
    int rc =
        (size_t)snprintf(plain, sizeof plain, "%s%s", out, pack ? ".plain" : "") >= sizeof plain
            ? err_set(&err, -ENAMETOOLONG, "%s: the name is too long", out)
            : join_into(argv + first, plain, &bytes, &err);
    if (rc == 0 && pack) {
        rc = pack_file(plain, out, NULL, &err);
        (void)unlink(plain);
    }
    if (rc != 0) {
        (void)fprintf(stderr, "roost-ckpt: %s\n", err.text);
        return FAILED;
    }
    (void)printf("CkptFilesSize = %" PRIu64 "\n", bytes);
    return 0;
}
