/* ckpt/image/image_linux.c - opens and verifies images in files: see image_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/image_linux.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/format.h"
#include "ckpt/image/frame.h"
#include "ckpt/image/image.h"
#include "ckpt/sum.h"

#define CHUNK (64U * 1024)

static int read_tables(int fd, struct image **ret, bool *is_one, struct err *err)
{
    unsigned char head[CKPT_STUB_OFFSET];
    uint64_t offset, bytes;
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0) {
        return err_set(err, -errno, "%s", err_code_text(-errno));
    }
    *is_one = image_find_tables(head, (size_t)got, &offset, &bytes);
    if (!*is_one && image_is_foreign(head, (size_t)got)) {
        return err_set(err, -EPROTONOSUPPORT, "the image was made on another kind of processor");
    }
    if (!*is_one) {
        return 0;
    }
    unsigned char *tables = mem_try_alloc((size_t)bytes);
    if (tables == NULL) {
        return err_set(err, -ENOMEM, "the image's tables do not fit in memory");
    }
    got = pread(fd, tables, (size_t)bytes, (off_t)offset);
    int rc = got < 0 ? err_set(err, -errno, "%s", err_code_text(-errno))
                     : image_parse(tables, (size_t)got, ret, err);
    mem_free(tables);
    return rc;
}

static int open_at(const char *path, struct image **ret, bool *is_one, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? err_set(err, -errno, "%s", err_code_text(-errno))
                    : read_tables(fd, ret, is_one, err);
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc != 0 ? err_prefix(err, rc, "%s", path) : 0;
}

int image_open(const char *path, struct image **ret, struct err *err)
{
    bool is_one = false;
    int rc = open_at(path, ret, &is_one, err);
    return rc == 0 && !is_one ? err_set(err, -EBADMSG, "%s: not a checkpoint image", path) : rc;
}

int image_of_process(pid_t pid, struct image **ret, struct err *err)
{
    char path[64];
    bool is_one = false;
    *ret = NULL;
    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return open_at(path, ret, &is_one, err);
}

/* Computes the checksum of these bytes of the file. */
static int sum_range(int fd, bool fast, uint64_t at, uint64_t bytes, uint32_t *ret, struct err *err)
{
    unsigned char chunk[CHUNK];
    uint32_t sum = 0;
    int rc = 0;
    for (uint64_t done = 0; rc == 0 && done < bytes;) {
        uint64_t left = bytes - done;
        ssize_t got = pread(fd, chunk, left < CHUNK ? (size_t)left : CHUNK, (off_t)(at + done));
        rc = got > 0
                 ? 0
                 : err_set(err, got < 0 ? -errno : -EBADMSG, "damaged image: the file is cut off");
        sum = rc == 0 ? ckpt_sum_by(fast, sum, chunk, (size_t)got) : sum;
        done += rc == 0 ? (uint64_t)got : 0;
    }
    *ret = sum;
    return rc;
}

static int verify_range(int fd, bool fast, uint64_t at, uint64_t bytes, uint32_t wanted,
                        struct err *err)
{
    uint32_t sum = 0;
    int rc = sum_range(fd, fast, at, bytes, &sum, err);
    return rc == 0 && sum != wanted
               ? err_set(err, -EBADMSG, "damaged image: bad checksum of the bytes at %llu",
                         (unsigned long long)at)
               : rc;
}

/* Checks what runs first: the headers by which the kernel loads the image, and the stub. */
static int verify_program(int fd, bool fast, const struct image *image, struct err *err)
{
    const struct ckpt_head *head = image_head(image);
    unsigned char is[CKPT_STUB_OFFSET], wanted[CKPT_STUB_OFFSET];
    Elf64_Phdr headers[2];
    if (pread(fd, is, sizeof is, 0) != (ssize_t)sizeof is) {
        return err_set(err, -EBADMSG, "damaged image: the file is cut off");
    }
    memcpy(headers, is + sizeof(Elf64_Ehdr), sizeof headers);
    uint64_t code = headers[0].p_filesz;
    frame_elf(head, code, headers[1].p_offset, wanted);
    if (code < CKPT_STUB_OFFSET || code > CKPT_STUB_MAX || memcmp(is, wanted, sizeof is) != 0) {
        return err_set(err, -EBADMSG, "damaged image: bad checksum of the bytes at 0");
    }
    return head->code_sum != 0 ? verify_range(fd, fast, CKPT_STUB_OFFSET, code - CKPT_STUB_OFFSET,
                                              head->code_sum, err)
                               : 0;
}

int image_verify(const char *path, const struct image *image, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int rc = -errno;
        return err_set(err, rc, "%s: %s", path, err_code_text(rc));
    }
    bool fast = ckpt_sum_is_fast();
    int rc = verify_program(fd, fast, image, err);
    for (uint32_t i = 0; rc == 0 && i < image_count(image, CKPT_EXTENTS); i++) {
        const struct ckpt_extent *extent = image_extent(image, i);
        bool is_here = (extent->flags & CKPT_IN_BASE) == 0;
        rc = is_here ? verify_range(fd, fast, extent->offset, extent->bytes, extent->sum, err) : 0;
    }
    (void)close(fd);
    return rc != 0 ? err_prefix(err, rc, "%s", path) : 0;
}
