/* ckpt/image/pack_linux.c - compresses files: see pack_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/pack_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/format.h"
#include "ckpt/image/new_file_linux.h"

#define LEVEL      1
#define CHUNK      ((size_t)1 << 20)
#define WINDOW_MAX 23 /* bits: what unpacking takes of our memory; level 1 needs 19 */

static int set_failure(struct err *err, const char *name, int rc)
{
    return err_set(err, rc, "%s: %s", name, err_code_text(rc));
}

static int open_plain(const char *name, struct stat *ret, struct err *err)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int rc = fd < 0 || fstat(fd, ret) != 0 ? -errno : S_ISREG(ret->st_mode) ? 0 : -EINVAL;
    if (rc != 0 && fd >= 0) {
        (void)close(fd);
    }
    return rc != 0 ? set_failure(err, name, rc) : fd;
}

/* ---- packing */

struct packing {
    int in;
    const char *from;
    struct new_file out;
    ZSTD_CCtx *context;
    unsigned char *plain, *packed;
    uint64_t read, written;
};

static int pack_chunk(struct packing *packing, size_t length, bool last, struct err *err)
{
    ZSTD_inBuffer in = {packing->plain, length, 0};
    bool over = false;
    while (!over) {
        ZSTD_outBuffer out = {packing->packed, CHUNK, 0};
        size_t left =
            ZSTD_compressStream2(packing->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) { /* it was promised more, or less */
            return err_set(err, -EIO, "%s: %s", packing->from, ZSTD_getErrorName(left));
        }
        int rc = new_file_write(packing->out.fd, packing->packed, out.pos, packing->written);
        if (rc != 0) {
            return set_failure(err, packing->out.name, rc);
        }
        packing->written += out.pos;
        over = last ? left == 0 : in.pos == in.size;
    }
    return 0;
}

static int pack_all(struct packing *packing, uint64_t size, struct err *err)
{
    (void)ZSTD_CCtx_setParameter(packing->context, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_setParameter(packing->context, ZSTD_c_checksumFlag, 1);
    (void)ZSTD_CCtx_setPledgedSrcSize(packing->context, size);
    do {
        size_t wanted = size - packing->read < CHUNK ? (size_t)(size - packing->read) : CHUNK;
        ssize_t got = pread(packing->in, packing->plain, wanted, (off_t)packing->read);
        if (got < 0 || (got == 0 && wanted > 0)) {
            return set_failure(err, packing->from, got < 0 ? -errno : -EIO);
        }
        packing->read += (uint64_t)got;
        int rc = pack_chunk(packing, (size_t)got, packing->read == size, err);
        if (rc != 0) {
            return rc;
        }
    } while (packing->read < size);
    return 0;
}

int pack_file(const char *from, const char *to, uint64_t *plain, struct err *err)
{
    struct packing packing = {.from = from};
    struct stat stat;
    packing.in = open_plain(from, &stat, err);
    int rc = packing.in < 0 ? packing.in : new_file_open(&packing.out, to, false, err);
    if (rc == 0) {
        packing.context = ZSTD_createCCtx();
        packing.plain = mem_alloc(CHUNK);
        packing.packed = mem_alloc(CHUNK);
        rc = packing.context == NULL ? set_failure(err, from, -ENOMEM)
                                     : pack_all(&packing, (uint64_t)stat.st_size, err);
        rc = rc != 0 ? rc : new_file_commit(&packing.out, stat.st_mode & 0700, err);
        (void)ZSTD_freeCCtx(packing.context);
        mem_free(packing.plain);
        mem_free(packing.packed);
        new_file_close(&packing.out, false);
    }
    if (packing.in >= 0) {
        (void)close(packing.in);
    }
    if (rc == 0 && plain != NULL) {
        *plain = packing.read;
    }
    return rc;
}

/* ---- unpacking */

struct unpacking {
    int in, out;
    const char *from, *to;
    ZSTD_DCtx *context;
    unsigned char *plain, *packed;
    uint64_t read, written, max;
};

/* True for frames with contents only: zstd itself would also accept frames to be skipped, and old
 * formats. */
static bool has_magic(const unsigned char *bytes, size_t count)
{
    uint32_t magic = 0;
    if (count < sizeof magic) {
        return false;
    }
    memcpy(&magic, bytes, sizeof magic);
    return magic == ZSTD_MAGICNUMBER;
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Writes all pages except those that are all zeroes. */
static int write_pages(struct unpacking *unpacking, size_t length)
{
    int rc = 0;
    for (size_t at = 0, end; rc == 0 && at < length; at = end) {
        size_t page = length - at < CKPT_PAGE ? length - at : CKPT_PAGE;
        bool hole = is_zero(unpacking->plain + at, page);
        end = at + page;
        while (!hole && end < length) { /* as many as there are */
            size_t next = length - end < CKPT_PAGE ? length - end : CKPT_PAGE;
            if (is_zero(unpacking->plain + end, next)) {
                break;
            }
            end += next;
        }
        rc = hole ? 0
                  : new_file_write(unpacking->out, unpacking->plain + at, end - at,
                                   unpacking->written + at);
    }
    unpacking->written += length;
    return rc;
}

static int set_damaged(const struct unpacking *unpacking, const char *why, struct err *err)
{
    return err_set(err, -EBADMSG, "%s: damaged packed file: %s", unpacking->from, why);
}

/* Decompresses what was read. *over: the frame has ended. */
static int unpack_chunk(struct unpacking *unpacking, ZSTD_inBuffer *in, bool *over, struct err *err)
{
    bool more = true;
    while (!*over && more) {
        ZSTD_outBuffer out = {unpacking->plain, CHUNK, 0};
        size_t left = ZSTD_decompressStream(unpacking->context, &out, in);
        if (ZSTD_isError(left)) {
            return set_damaged(unpacking, ZSTD_getErrorName(left), err);
        }
        if (out.pos > unpacking->max - unpacking->written) {
            return err_set(err, -EFBIG, "%s: unpacked, the file is larger than %llu bytes",
                           unpacking->from, (unsigned long long)unpacking->max);
        }
        int rc = out.pos > 0 ? write_pages(unpacking, out.pos) : 0;
        if (rc != 0) {
            return set_failure(err, unpacking->to, rc);
        }
        *over = left == 0;
        more = in->pos < in->size || out.pos == out.size; /* it may hold some back */
    }
    return 0;
}

static int unpack_all(struct unpacking *unpacking, struct err *err)
{
    bool over = false, first = true;
    while (!over) {
        ssize_t got = pread(unpacking->in, unpacking->packed, CHUNK, (off_t)unpacking->read);
        if (got <= 0) {
            return got < 0 ? set_failure(err, unpacking->from, -errno)
                           : set_damaged(unpacking, "the file is cut off", err);
        }
        unpacking->read += (uint64_t)got;
        ZSTD_inBuffer in = {unpacking->packed, (size_t)got, 0};
        if (first && !has_magic(unpacking->packed, (size_t)got)) {
            return set_damaged(unpacking, "the file does not begin with a zstd frame", err);
        }
        unsigned long long size = first ? ZSTD_getFrameContentSize(in.src, in.size) : 0;
        if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
            return set_damaged(unpacking, "the zstd frame does not say its size", err);
        }
        if (size > unpacking->max) {
            return err_set(err, -EFBIG,
                           "%s: unpacked, the file has %llu bytes, more than the limit of %llu",
                           unpacking->from, size, (unsigned long long)unpacking->max);
        }
        unpacking->max = first ? size : unpacking->max; /* what it says there was room for */
        int rc = first ? new_file_room(unpacking->out, unpacking->to, size, err) : 0;
        rc = rc != 0 ? rc : unpack_chunk(unpacking, &in, &over, err);
        if (rc != 0) {
            return rc;
        }
        if (over && (in.pos < in.size ||
                     pread(unpacking->in, unpacking->packed, 1, (off_t)unpacking->read) != 0)) {
            return set_damaged(unpacking, "more bytes follow the zstd frame", err);
        }
        first = false;
    }
    return ftruncate(unpacking->out, (off_t)unpacking->written) != 0
               ? set_failure(err, unpacking->to, -errno)
               : 0;
}

static int unpack_open(int in, const char *from, int to, const char *name, uint64_t max,
                       struct err *err)
{
    struct unpacking unpacking = {.in = in, .out = to, .from = from, .to = name, .max = max};
    unpacking.context = ZSTD_createDCtx();
    if (unpacking.context == NULL) {
        return set_failure(err, from, -ENOMEM);
    }
    (void)ZSTD_DCtx_setParameter(unpacking.context, ZSTD_d_windowLogMax, WINDOW_MAX);
    unpacking.plain = mem_alloc(CHUNK);
    unpacking.packed = mem_alloc(CHUNK);
    int rc = unpack_all(&unpacking, err);
    (void)ZSTD_freeDCtx(unpacking.context);
    mem_free(unpacking.plain);
    mem_free(unpacking.packed);
    return rc;
}

int unpack_into(const char *from, int to, const char *name, uint64_t max, struct err *err)
{
    struct stat stat;
    int in = open_plain(from, &stat, err);
    int rc = in < 0 ? in : unpack_open(in, from, to, name, max, err);
    if (in >= 0) {
        (void)close(in);
    }
    return rc;
}

bool pack_is_packed(const char *name)
{
    unsigned char bytes[sizeof(uint32_t)];
    struct stat stat;
    int fd = open_plain(name, &stat, NULL);
    bool packed = fd >= 0 && pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
                  has_magic(bytes, sizeof bytes);
    if (fd >= 0) {
        (void)close(fd);
    }
    return packed;
}

int unpack_file(const char *from, const char *to, uint64_t max, struct err *err)
{
    struct new_file out;
    struct stat stat;
    if (!pack_is_packed(from)) {
        return strcmp(from, to) == 0 || rename(from, to) == 0 ? 0 : set_failure(err, to, -errno);
    }
    int in = open_plain(from, &stat, err);
    int rc = in < 0 ? in : new_file_open(&out, to, false, err);
    if (rc == 0) {
        rc = unpack_open(in, from, out.fd, to, max, err);
        rc = rc != 0 ? rc : new_file_commit(&out, stat.st_mode & 0700, err);
        new_file_close(&out, false);
    }
    if (in >= 0) {
        (void)close(in);
    }
    return rc;
}
