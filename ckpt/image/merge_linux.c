/* ckpt/image/merge_linux.c - makes one whole image from a whole image and deltas: see
 * merge_linux.h.
 *
 * Stub and tables are those of the newest image, which one program has made; only extents change,
 * and the frame with the size of the tables (frame.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/merge_linux.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/image/chain.h"
#include "ckpt/image/frame.h"
#include "ckpt/image/image.h"
#include "ckpt/image/image_linux.h"
#include "ckpt/image/new_file_linux.h"
#include "ckpt/sum.h"
#include "ckpt/image/tables.h"

#define CHUNK (1U << 20)

struct merge {
    const char *const *names;
    size_t count;
    struct image **images;
    int *fds;
    struct new_file out;
    struct tables tables;
    struct ckpt_head head;
    struct ckpt_extent extent; /* the one that is written */
    bool is_open, sums_fast;
    uint64_t at, max; /* in the new image */
    unsigned char *chunk;
    struct err *err;
};

static const struct image *newest_image(const struct merge *merge)
{
    return merge->images[merge->count - 1];
}

static int open_all(struct merge *merge)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < merge->count; i++) {
        rc = image_open(merge->names[i], &merge->images[i], merge->err);
        rc = rc != 0 ? rc : image_verify(merge->names[i], merge->images[i], merge->err);
        merge->fds[i] = rc == 0 ? open(merge->names[i], O_RDONLY | O_CLOEXEC) : -1;
        if (rc == 0 && merge->fds[i] < 0) {
            rc = -errno;
            rc = err_set(merge->err, rc, "%s: %s", merge->names[i], err_code_text(rc));
        }
    }
    return rc != 0 ? rc
                   : chain_check((const struct image *const *)merge->images, merge->names,
                                 merge->count, merge->err);
}

static void close_all(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        image_destroy(merge->images[i]);
        if (merge->fds[i] >= 0) {
            (void)close(merge->fds[i]);
        }
    }
    mem_free(merge->images);
    mem_free(merge->fds);
}

/* ---- contents */

/* Several extents of one image may be the same bytes of its file: so the result may be much larger,
 * and is limited here. */
static int check_end(const struct merge *merge, uint64_t end)
{
    return end <= merge->max
               ? 0
               : err_set(merge->err, -EFBIG, "%s: the result would be larger than %llu bytes",
                         merge->out.name, (unsigned long long)merge->max);
}

static int copy_bytes(struct merge *merge, size_t from, uint64_t offset, uint64_t bytes)
{
    int rc = check_end(merge, bytes > merge->max ? bytes : merge->at + bytes);
    if (rc != 0) {
        return rc;
    }
    while (bytes > 0) {
        size_t wanted = bytes < CHUNK ? (size_t)bytes : CHUNK;
        ssize_t got = pread(merge->fds[from], merge->chunk, wanted, (off_t)offset);
        rc = got < 0 ? -errno : got == 0 ? -EBADMSG : 0;
        rc = rc != 0 ? rc : new_file_write(merge->out.fd, merge->chunk, (size_t)got, merge->at);
        if (rc != 0) {
            return err_set(merge->err, rc, "%s, of %s: %s", merge->out.name, merge->names[from],
                           err_code_text(rc));
        }
        merge->extent.sum =
            ckpt_sum_by(merge->sums_fast, merge->extent.sum, merge->chunk, (size_t)got);
        merge->extent.bytes += (uint64_t)got;
        merge->at += (uint64_t)got;
        offset += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return 0;
}

static void begin_extent(struct merge *merge, uint64_t start)
{
    merge->at = frame_round_up(merge->at);
    merge->extent = (struct ckpt_extent){.start = start, .offset = merge->at};
    merge->is_open = true;
}

static void end_extent(struct merge *merge, struct ckpt_span *extents, bool is_memory)
{
    if (merge->is_open) {
        (void)tables_add(&merge->tables, CKPT_EXTENTS, &merge->extent);
        extents->count++;
        merge->head.memory_bytes += is_memory ? merge->extent.bytes : 0;
        merge->is_open = false;
    }
}

/* Copies the pieces that lie in that region; *next: the first that may. */
static int copy_region(struct merge *merge, uint32_t index, const struct chain_pieces *pieces)
{
    const struct ckpt_region *region = image_region(newest_image(merge), index);
    struct ckpt_span extents = {.first = merge->tables.counts[CKPT_EXTENTS]};
    size_t low = 0, high = pieces->count;
    int rc = 0;
    while (low < high) { /* regions need not be in order */
        size_t middle = low + (high - low) / 2;
        bool below = pieces->items[middle].start < region->start;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    for (; rc == 0 && low < pieces->count && pieces->items[low].start < region->end; low++) {
        const struct chain_piece *piece = &pieces->items[low];
        if (!merge->is_open || merge->extent.start + merge->extent.bytes != piece->start) {
            end_extent(merge, &extents, true);
            begin_extent(merge, piece->start);
        }
        rc = copy_bytes(merge, piece->image, piece->offset, piece->bytes);
    }
    end_extent(merge, &extents, true);
    ((struct ckpt_region *)tables_at(&merge->tables, CKPT_REGIONS, index))->extents = extents;
    return rc;
}

static int copy_process(struct merge *merge, uint32_t index)
{
    struct chain_pieces pieces = {.items = NULL};
    struct ckpt_span regions = image_process(newest_image(merge), index)->regions;
    int rc = chain_pieces_of((const struct image *const *)merge->images, merge->count, index,
                             &pieces, merge->err);
    for (uint32_t i = 0; rc == 0 && i < regions.count; i++) {
        rc = copy_region(merge, regions.first + i, &pieces);
    }
    chain_pieces_fini(&pieces);
    return rc;
}

/* Contents of open files are always complete in the newest image. */
static int copy_file(struct merge *merge, uint32_t index)
{
    const struct ckpt_file *file = image_file(newest_image(merge), index);
    struct ckpt_span extents = {.first = merge->tables.counts[CKPT_EXTENTS]};
    bool is_memory = file->kind == CKPT_MEMORY_FILE;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < file->extents.count; i++) {
        const struct ckpt_extent *extent =
            image_extent(newest_image(merge), file->extents.first + i);
        begin_extent(merge, extent->start);
        rc = copy_bytes(merge, merge->count - 1, extent->offset, extent->bytes);
        end_extent(merge, &extents, is_memory);
    }
    ((struct ckpt_file *)tables_at(&merge->tables, CKPT_FILES, index))->extents = extents;
    return rc;
}

/* ---- the whole */

static void take_tables(struct merge *merge)
{
    const struct image *image = newest_image(merge);
    merge->head = *image_head(image);
    merge->head.flags &= ~CKPT_DELTA;
    merge->head.base = 0;
    merge->head.base_id = merge->head.memory_bytes = 0;
    for (unsigned i = 0; i < CKPT_TABLES; i++) {
        enum ckpt_table table = (enum ckpt_table)i;
        if (table != CKPT_EXTENTS) {
            tables_take(&merge->tables, table, image_table(image, table),
                        image_count(image, table));
        }
    }
}

/* Returns the length of headers and stub: the first segment. */
static int code_bytes(struct merge *merge, uint64_t *ret)
{
    Elf64_Phdr header;
    int fd = merge->fds[merge->count - 1];
    if (pread(fd, &header, sizeof header, sizeof(Elf64_Ehdr)) != (ssize_t)sizeof header ||
        header.p_filesz < CKPT_STUB_OFFSET || header.p_filesz % CKPT_PAGE != 0 ||
        header.p_filesz > CKPT_STUB_MAX) {
        return err_set(merge->err, -EBADMSG, "%s: damaged image: bad size of its first ELF segment",
                       merge->names[merge->count - 1]);
    }
    *ret = header.p_filesz;
    return 0;
}

static int write_frame(struct merge *merge, uint64_t code)
{
    struct strbuf bytes;
    unsigned char page[CKPT_STUB_OFFSET];
    uint64_t at = frame_round_up(merge->at);
    if (!frame_lay_out(&merge->tables, &merge->head, merge->head.window, code, at)) {
        return err_set(merge->err, -ENOMEM, "%s: the image's tables are too large",
                       merge->out.name);
    }
    int rc = check_end(merge, merge->head.image_bytes);
    if (rc != 0) {
        return rc;
    }
    strbuf_init(&bytes, CKPT_TABLES_MAX);
    rc = tables_write(&merge->tables, &merge->head, &bytes);
    rc = rc != 0 ? rc : new_file_write(merge->out.fd, bytes.data, bytes.length, at);
    rc = rc == 0 && ftruncate(merge->out.fd, (off_t)merge->head.image_bytes) != 0 ? -errno : rc;
    if (rc == 0) {
        frame_elf(&merge->head, code, at, page);
        rc = new_file_write(merge->out.fd, page, sizeof page, 0);
    }
    strbuf_fini(&bytes);
    return rc != 0 ? err_set(merge->err, rc, "%s: %s", merge->out.name, err_code_text(rc)) : 0;
}

static int merge_all(struct merge *merge)
{
    uint64_t code = 0, most = 0;
    int rc = code_bytes(merge, &code);
    for (size_t i = 0; i < merge->count; i++) {
        most += image_head(merge->images[i])->memory_bytes;
    }
    rc = rc != 0 ? rc : new_file_room(merge->out.fd, merge->out.name, most, merge->err);
    if (rc != 0) {
        return rc;
    }
    take_tables(merge);
    rc = copy_bytes(merge, merge->count - 1, 0,
                    code); /* the stub, and a page that is written again */
    for (uint32_t i = 0; rc == 0 && i < image_count(newest_image(merge), CKPT_PROCESSES); i++) {
        rc = copy_process(merge, i);
    }
    for (uint32_t i = 0; rc == 0 && i < image_count(newest_image(merge), CKPT_FILES); i++) {
        rc = copy_file(merge, i);
    }
    rc = rc != 0 ? rc : write_frame(merge, code);
    return rc != 0 ? rc : new_file_commit(&merge->out, 0700, merge->err);
}

int ckpt_merge(const char *const *names, size_t count, const char *out, uint64_t max,
               struct err *err)
{
    struct merge merge = {
        .names = names, .count = count, .max = max, .sums_fast = ckpt_sum_is_fast(), .err = err};
    if (count == 0 || count > CHAIN_MAX) {
        return err_set(err, -EINVAL, "a chain of checkpoint images has 1 to %u images", CHAIN_MAX);
    }
    int rc = new_file_open(&merge.out, out, false, err);
    if (rc != 0) {
        return rc;
    }
    merge.images = mem_zalloc(count * sizeof *merge.images);
    merge.fds = mem_alloc(count * sizeof *merge.fds);
    memset(merge.fds, -1, count * sizeof *merge.fds);
    merge.chunk = mem_alloc(CHUNK);
    tables_init(&merge.tables);
    rc = open_all(&merge);
    rc = rc != 0 ? rc : merge_all(&merge);
    new_file_close(&merge.out, false);
    tables_fini(&merge.tables);
    close_all(&merge);
    mem_free(merge.chunk);
    return rc;
}
