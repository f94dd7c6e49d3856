/* store/store_wal.c - see store_wal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store_wal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"

#define HEADER_BYTES   32
#define FRAME_HEADER   24
#define MAGIC          0x377f0682u /* the lowest bit: words of checksums are big-endian */
#define FORMAT_VERSION 3007000u
#define PAGE_BYTES_MIN 512
#define PAGE_BYTES_MAX 65536
#define CHUNK_BYTES    ((size_t)1 << 20)

struct sums {
    uint32_t first, second;
};

/* A log that is read from its beginning to its end, a chunk at a time. */
struct log_reader {
    struct os_file *file;
    uint64_t size;
    uint8_t *chunk;
    uint64_t chunk_at;
    size_t chunk_length;
    size_t page_bytes;
    uint64_t frames; /* whole frames in the file */
    bool is_big_endian;
    uint8_t salts[8];
    struct sums sums; /* of the last good frame; at the beginning, of the header */
};

static uint32_t big_32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t little_32(const uint8_t *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* Adds bytes, a multiple of eight, to the checksums. */
static struct sums add_bytes(struct sums sums, const uint8_t *at, size_t length, bool is_big_endian)
{
    for (size_t i = 0; i < length; i += 8) {
        sums.first += (is_big_endian ? big_32(at + i) : little_32(at + i)) + sums.second;
        sums.second += (is_big_endian ? big_32(at + i + 4) : little_32(at + i + 4)) + sums.first;
    }
    return sums;
}

/* Gets `length` bytes at an offset, which live until the next call.  NULL: they cannot be read. */
static const uint8_t *bytes_at(struct log_reader *log, uint64_t offset, size_t length)
{
    if (offset < log->chunk_at || offset + length > log->chunk_at + log->chunk_length) {
        const bool backwards = offset < log->chunk_at;
        const uint64_t end = offset + length;
        log->chunk_at = !backwards ? offset : end > CHUNK_BYTES ? end - CHUNK_BYTES : 0;
        const ssize_t got = os_file_read(log->file, log->chunk_at, log->chunk, CHUNK_BYTES);
        log->chunk_length = got > 0 ? (size_t)got : 0;
    }
    return offset + length <= log->chunk_at + log->chunk_length
               ? log->chunk + (offset - log->chunk_at)
               : NULL;
}

static const uint8_t *frame_at(struct log_reader *log, uint64_t number)
{
    const size_t length = FRAME_HEADER + log->page_bytes;
    return bytes_at(log, HEADER_BYTES + number * length, length);
}

static bool take_header(struct log_reader *log)
{
    const uint8_t *header = bytes_at(log, 0, HEADER_BYTES);
    if (header == NULL || (big_32(header) & ~1u) != MAGIC || big_32(header + 4) != FORMAT_VERSION) {
        return false;
    }
    log->is_big_endian = (big_32(header) & 1) != 0;
    log->page_bytes = big_32(header + 8);
    memcpy(log->salts, header + 16, sizeof(log->salts));
    log->sums = add_bytes((struct sums){0, 0}, header, 24, log->is_big_endian);
    return log->page_bytes >= PAGE_BYTES_MIN && log->page_bytes <= PAGE_BYTES_MAX &&
           (log->page_bytes & (log->page_bytes - 1)) == 0 &&
           log->sums.first == big_32(header + 24) && log->sums.second == big_32(header + 28);
}

static bool is_of_round(const struct log_reader *log, const uint8_t *frame)
{
    return memcmp(frame + 8, log->salts, sizeof(log->salts)) == 0;
}

static bool is_commit(const uint8_t *frame)
{
    return big_32(frame + 4) != 0;
}

/* Returns whether the frame is the next good one, and goes on to it. */
static bool take_frame(struct log_reader *log, const uint8_t *frame)
{
    if (!is_of_round(log, frame) || big_32(frame) == 0) {
        return false;
    }
    struct sums sums = add_bytes(log->sums, frame, 8, log->is_big_endian);
    sums = add_bytes(sums, frame + FRAME_HEADER, log->page_bytes, log->is_big_endian);
    if (sums.first != big_32(frame + 16) || sums.second != big_32(frame + 20)) {
        return false;
    }
    log->sums = sums;
    return true;
}

/* Counts the commits from the first wrong frame on.  On some disks SQLite writes the last frame of
 * a transaction again, up to the end of a sector: such a copy does not count. */
static int count_behind(struct log_reader *log, uint64_t first, size_t *ret)
{
    uint8_t *last = mem_zalloc(FRAME_HEADER + log->page_bytes); /* the last commit; zeros: none */
    uint64_t last_at = 0;
    size_t count = 0;
    int code = 0;
    for (uint64_t i = first; i < log->frames; i++) {
        const uint8_t *frame = frame_at(log, i);
        if (frame == NULL) {
            code = -EIO;
            break;
        }
        if (!is_of_round(log, frame) || !is_commit(frame)) {
            continue;
        }
        const bool is_copy = count > 0 && last_at + 1 == i && memcmp(frame, last, 8) == 0 &&
                             (last_at == first || memcmp(frame + FRAME_HEADER, last + FRAME_HEADER,
                                                         log->page_bytes) == 0);
        count += !is_copy;
        memcpy(last, frame, FRAME_HEADER + log->page_bytes);
        last_at = i;
    }
    mem_free(last);
    *ret = count;
    return code;
}

static int read_frames(struct log_reader *log, struct store_wal *ret)
{
    uint64_t number = 0;
    log->frames = (log->size - HEADER_BYTES) / (FRAME_HEADER + log->page_bytes);
    ret->good_bytes = HEADER_BYTES;
    for (; number < log->frames; number++) {
        const uint8_t *frame = frame_at(log, number);
        if (frame == NULL) {
            return -EIO;
        }
        if (!take_frame(log, frame)) {
            break;
        }
        if (is_commit(frame)) {
            ret->good_bytes = HEADER_BYTES + (number + 1) * (FRAME_HEADER + log->page_bytes);
        }
    }
    return count_behind(log, number, &ret->behind);
}

/* ---- a log without a header -------------------------------------------------------------------
 */

static size_t page_bytes_of(struct os_file *store)
{
    uint8_t header[18] = {0};
    if (os_file_read(store, 0, header, sizeof(header)) != sizeof(header)) {
        return 0;
    }
    const size_t bytes = (size_t)header[16] << 8 | header[17];
    const size_t page_bytes = bytes == 1 ? PAGE_BYTES_MAX : bytes;
    return page_bytes >= PAGE_BYTES_MIN && (page_bytes & (page_bytes - 1)) == 0 ? page_bytes : 0;
}

/* Returns how many frames up to the last commit have the salts of the first one; *pages: how many
 * pages the store then has. */
static uint64_t frames_of_first_round(struct log_reader *log, uint32_t *pages)
{
    uint64_t committed = 0;
    for (uint64_t i = 0; i < log->frames; i++) {
        const uint8_t *frame = frame_at(log, i);
        if (frame == NULL || big_32(frame) == 0 || (i > 0 && !is_of_round(log, frame))) {
            break;
        }
        memcpy(log->salts, frame + 8, sizeof(log->salts));
        if (is_commit(frame)) {
            committed = i + 1;
            *pages = big_32(frame + 4);
        }
    }
    return committed;
}

/* Returns whether each page of the store is as the log has it. */
static bool is_copied_back(struct log_reader *log, struct os_file *store)
{
    uint32_t pages = 0;
    log->page_bytes = page_bytes_of(store);
    log->frames =
        log->page_bytes > 0 ? (log->size - HEADER_BYTES) / (FRAME_HEADER + log->page_bytes) : 0;
    const uint64_t frames = frames_of_first_round(log, &pages);
    const uint64_t pages_max =
        log->page_bytes > 0 ? (uint64_t)os_file_size(store) / log->page_bytes : 0;
    if (frames == 0 || pages > pages_max) {
        return false;
    }
    bool *seen = mem_zalloc((size_t)pages + 1);
    uint8_t *page = mem_alloc(log->page_bytes);
    bool same = true;
    for (uint64_t i = frames; same && i-- > 0;) {
        const uint8_t *frame = frame_at(log, i);
        const uint32_t number = frame != NULL ? big_32(frame) : 0;
        same = frame != NULL;
        if (same && number <= pages && !seen[number]) {
            seen[number] = true;
            same = os_file_read(store, (uint64_t)(number - 1) * log->page_bytes, page,
                                log->page_bytes) == (ssize_t)log->page_bytes &&
                   memcmp(page, frame + FRAME_HEADER, log->page_bytes) == 0;
        }
    }
    mem_free(page);
    mem_free(seen);
    return same;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static char *log_name(const char *path)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s-wal", path);
    return strbuf_take(&name);
}

static int read_log(struct os *os, const char *path, struct log_reader *log, struct store_wal *ret)
{
    struct os_file *store = NULL;
    ret->kind = STORE_WAL_EMPTY;
    if (log->size < HEADER_BYTES + FRAME_HEADER + PAGE_BYTES_MIN) {
        return 0;
    }
    if (take_header(log)) {
        ret->kind = STORE_WAL_READABLE;
        return read_frames(log, ret);
    }
    ret->kind = STORE_WAL_NO_HEADER;
    int code = os_file_open(os, path, OS_READ, 0, &store, NULL);
    ret->copied_back = code == 0 && is_copied_back(log, store);
    os_file_close(store);
    return code;
}

int store_wal_read(struct os *os, const char *path, struct store_wal *ret, struct err *err)
{
    struct log_reader log = {.file = NULL};
    struct os_stat st;
    char *name = log_name(path);
    *ret = (struct store_wal){.kind = STORE_WAL_MISSING};
    int code = os_stat(os, name, &st);
    if (code == 0) {
        code = os_file_open(os, name, OS_READ, 0, &log.file, err);
    } else if (code != -ENOENT) {
        (void)err_set(err, code, "%s: %s", name, err_code_text(code));
    }
    if (code == 0) {
        log.size = (uint64_t)os_file_size(log.file);
        log.chunk = mem_alloc(CHUNK_BYTES);
        code = read_log(os, path, &log, ret);
        if (code != 0) {
            code = err_set(err, code, "%s: cannot read the write-ahead log: %s", name,
                           err_code_text(code));
        }
    }
    mem_free(log.chunk);
    os_file_close(log.file);
    mem_free(name);
    return code == -ENOENT ? 0 : code;
}

int store_wal_judge(struct os *os, const char *path, bool must_exist, struct err *err)
{
    static const char *const WHAT[] = {[STORE_WAL_MISSING] = "missing",
                                       [STORE_WAL_EMPTY] = "empty",
                                       [STORE_WAL_NO_HEADER] = "damaged (its header is not valid)"};
    struct store_wal wal;
    int code = store_wal_read(os, path, &wal, err);
    if (code != 0) {
        return code;
    }
    if (wal.kind == STORE_WAL_READABLE) {
        return wal.behind < 2
                   ? 0
                   : err_set(err, -EUCLEAN,
                             "store %s: its write-ahead log %s-wal is damaged behind byte %" PRIu64
                             ": %zu transactions stand there, of which a power cut explains only "
                             "the last one, so acknowledged changes are lost.  Restore the log, or "
                             "take out what can be read: roost store salvage; or go on with what "
                             "stands before the damage: roost store accept-loss %s",
                             path, path, wal.good_bytes, wal.behind, path);
    }
    if (wal.copied_back || (wal.kind != STORE_WAL_NO_HEADER && !must_exist)) {
        return 0;
    }
    return err_set(err, -EUCLEAN,
                   "store %s: its write-ahead log %s-wal is %s, but the daemon did not stop in "
                   "order, so acknowledged changes are lost with the log.  Put the log back where "
                   "it was; or go on without it: roost store accept-loss %s",
                   path, path, WHAT[wal.kind], path);
}
