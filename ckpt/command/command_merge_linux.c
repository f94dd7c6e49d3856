/* ckpt/command/command_merge_linux.c - roost-ckpt merge and join: what changed since, made whole.
 *
 * What comes in may be packed, and a stranger's: a few kilobytes may say that they are terabytes.
 * Who runs this knows how much the whole may be, and says so: with --max so many bytes at most are
 * made, of all that is unpacked on the way and of what comes of it, before that is packed again.
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
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/files/archive_linux.h"
#include "ckpt/image/chain.h"
#include "ckpt/command/command_linux.h"
#include "ckpt/image/image.h"
#include "ckpt/image/merge_linux.h"
#include "ckpt/image/new_file_linux.h"
#include "ckpt/image/pack_linux.h"

#define FAILED 1
#define USAGE  2

/* Tables are read into memory, a few times over: more than this, and this part of the bytes that
 * may be made, no honest image has of them. */
#define TABLES_FREE ((uint64_t)64 << 20)
#define TABLES_PART 32

struct making {
    bool pack;
    uint64_t left;        /* bytes that may still be made */
    char **names;         /* of what comes in */
    size_t count;         /* of these */
    const char *out;      /* what is made */
    char plain[PATH_MAX]; /* the same, until it is packed */
};

static int set_failure(const char *name, struct err *err)
{
    int rc = -errno;
    return err_set(err, rc, "%s: %s", name, err_code_text(rc));
}

static bool take_bytes(const char *text, uint64_t *ret)
{
    char *end = NULL;
    errno = 0;
    unsigned long long bytes = strtoull(text, &end, 10);
    *ret = bytes;
    return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && bytes <= INT64_MAX;
}

/* Reads the arguments.  False: wrong arguments. */
static bool take_words(int argc, char **argv, struct making *ret)
{
    int at = 2;
    *ret = (struct making){.left = INT64_MAX};
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--pack") == 0) {
            ret->pack = true;
        } else if (strcmp(argv[at], "--max") != 0 || at + 1 >= argc ||
                   !take_bytes(argv[++at], &ret->left)) {
            return false;
        }
    }
    if (argc - at < 2) {
        return false;
    }
    ret->names = argv + at;
    ret->count = (size_t)(argc - at) - 1;
    ret->out = argv[argc - 1];
    return true;
}

/* Opens an input; a packed one is unpacked into a file without a name beside the output. *packed:
 * it was packed.  Returns a descriptor, or a negative errno. */
static int open_plain(struct making *making, const char *name, bool *packed, struct err *err)
{
    char path[PATH_MAX];
    struct stat stat;
    *packed = pack_is_packed(name);
    if (!*packed) {
        int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        return fd < 0 ? set_failure(name, err) : fd;
    }
    if ((size_t)snprintf(path, sizeof path, "%s.XXXXXX", making->out) >= sizeof path) {
        return err_set(err, -ENAMETOOLONG, "%s: the file name is too long", making->out);
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return set_failure(path, err);
    }
    (void)unlink(path);
    int rc = unpack_into(name, fd, name, making->left, err);
    rc = rc == 0 && fstat(fd, &stat) != 0 ? set_failure(name, err) : rc;
    if (rc != 0) {
        (void)close(fd);
        return rc;
    }
    making->left -= (uint64_t)stat.st_size;
    return fd;
}

/* ---- merge ----------------------------------------------------------------------------------- */

static int check_tables(const struct making *making, int fd, const char *name, struct err *err)
{
    unsigned char head[CKPT_PAGE];
    uint64_t offset = 0, bytes = 0;
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0) {
        return set_failure(name, err);
    }
    uint64_t part = making->left / TABLES_PART, most = part > TABLES_FREE ? part : TABLES_FREE;
    return image_find_tables(head, (size_t)got, &offset, &bytes) && bytes > most
               ? err_set(err, -EFBIG, "%s: the image has %llu bytes of tables; the limit is %llu",
                         name, (unsigned long long)bytes, (unsigned long long)most)
               : 0;
}

/* Unpacked files are read by their names in /proc: their descriptors stay open until we end. */
static int merge_images(struct making *making, struct err *err)
{
    char(*paths)[32] = mem_zalloc(making->count * sizeof *paths);
    const char **links = mem_zalloc(making->count * sizeof *links);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < making->count; i++) {
        bool packed = false;
        int fd = open_plain(making, making->names[i], &packed, err);
        rc = fd < 0 ? fd : check_tables(making, fd, making->names[i], err);
        (void)snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", fd);
        links[i] = packed ? paths[i] : making->names[i];
    }
    rc = rc != 0 ? rc : ckpt_merge(links, making->count, making->plain, making->left, err);
    rc = rc != 0 ? rc : ckpt_show_attributes(making->plain, err);
    mem_free(links);
    mem_free(paths);
    return rc;
}

/* ---- join ------------------------------------------------------------------------------------ */

static int join_archives(struct making *making, struct err *err)
{
    struct archive_file files[2];
    struct new_file out;
    uint64_t bytes = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2; i++) { /* open until we end */
        bool packed = false;
        files[i] = (struct archive_file){open_plain(making, making->names[i], &packed, err),
                                         making->names[i]};
        rc = files[i].fd < 0 ? files[i].fd : 0;
    }
    rc = rc != 0 ? rc : new_file_open(&out, making->plain, false, err);
    if (rc != 0) {
        return rc;
    }
    const struct archive_file whole = {out.fd, making->plain};
    rc = archive_merge(&files[0], &files[1], &whole, making->left, &bytes, err);
    rc = rc != 0 ? rc : new_file_commit(&out, 0600, err);
    new_file_close(&out, false);
    if (rc == 0) {
        (void)printf("CkptFilesSize = %" PRIu64 "\n", bytes);
    }
    return rc;
}

/* ---- both ------------------------------------------------------------------------------------ */

static int make_plain(struct making *making, int (*whole)(struct making *making, struct err *err))
{
    struct err err = {.text = ""};
    int rc = (size_t)snprintf(making->plain, sizeof making->plain, "%s%s", making->out,
                              making->pack ? ".plain" : "") >= sizeof making->plain
                 ? err_set(&err, -ENAMETOOLONG, "%s: the file name is too long", making->out)
                 : whole(making, &err);
    if (making->pack) {
        rc = rc != 0 ? rc : pack_file(making->plain, making->out, NULL, &err);
        (void)unlink(making->plain); /* none, perhaps */
    }
    if (rc != 0) {
        (void)fprintf(stderr, "roost-ckpt: %s\n", err.text);
    }
    return rc != 0 ? FAILED : 0;
}

int ckpt_merge_command(int argc, char **argv)
{
    struct making making;
    return take_words(argc, argv, &making) && making.count <= CHAIN_MAX
               ? make_plain(&making, merge_images)
               : USAGE;
}

int ckpt_join_command(int argc, char **argv)
{
    struct making making;
    return take_words(argc, argv, &making) && making.count == 2 ? make_plain(&making, join_archives)
                                                                : USAGE;
}
