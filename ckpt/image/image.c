/* ckpt/image/image.c - reads an image: see image.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/sum.h"
#include "ckpt/image/tables.h"
#include "ckpt/xstate.h"

struct image {
    struct ckpt_head head;
    unsigned char *bytes; /* of the tables, head included */
};

bool image_find_tables(const void *head, size_t head_bytes, uint64_t *offset, uint64_t *bytes)
{
    Elf64_Ehdr elf;
    Elf64_Phdr header;
    if (head_bytes < sizeof elf + 2 * sizeof header) {
        return false;
    }
    memcpy(&elf, head, sizeof elf);
    if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_type != ET_EXEC ||
        elf.e_machine != EM_X86_64 || elf.e_phoff != sizeof elf || elf.e_phnum != 3 ||
        memcmp(elf.e_ident + EI_PAD, "ROOST", 5) != 0) {
        return false;
    }
    memcpy(&header, (const char *)head + elf.e_phoff + sizeof header, sizeof header);
    *offset = header.p_offset;
    *bytes = header.p_filesz;
    return header.p_type == PT_LOAD && *bytes >= sizeof(struct ckpt_head) &&
           *bytes <= CKPT_TABLES_MAX;
}

bool image_is_foreign(const void *head, size_t head_bytes)
{
    Elf64_Ehdr elf;
    if (head_bytes < sizeof elf) {
        return false;
    }
    memcpy(&elf, head, sizeof elf);
    return memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
           memcmp(elf.e_ident + EI_PAD, "ROOST", 5) == 0 && elf.e_machine != EM_X86_64;
}

static const void *entry_at(const struct image *image, enum ckpt_table table, uint32_t index)
{
    return image->bytes + image->head.tables[table].offset + index * tables_entry_bytes(table);
}

/* ---- what may be wrong */

static int check_head(const struct ckpt_head *head, size_t bytes, struct err *err)
{
    if (memcmp(head->magic, CKPT_MAGIC, sizeof head->magic) != 0) {
        return err_set(err, -EBADMSG, "not the tables of a checkpoint image (bad magic)");
    }
    if (head->version != CKPT_VERSION) {
        return err_set(err, -EPROTONOSUPPORT,
                       "the image has format version %u; this program supports version %u",
                       (unsigned)head->version, CKPT_VERSION);
    }
    if (head->head_bytes != sizeof *head) {
        return err_set(err, -EPROTONOSUPPORT,
                       "damaged image: its header has %u bytes, expected %zu",
                       (unsigned)head->head_bytes, sizeof *head);
    }
    if (head->tables_bytes > bytes || head->tables_bytes < sizeof *head) {
        return err_set(err, -EBADMSG, "damaged image: its tables are cut off");
    }
    if ((head->flags & ~CKPT_DELTA) != 0 || head->xstate_bytes < XSTATE_MIN ||
        head->xstate_bytes > CKPT_XSTATE_MAX || head->window % CKPT_PAGE != 0 ||
        head->window_bytes % CKPT_PAGE != 0 || head->window + head->window_bytes < head->window) {
        return err_set(err, -EBADMSG, "damaged image: bad header");
    }
    for (unsigned i = 0; i < CKPT_COMPONENTS; i++) {
        const struct ckpt_component *component = &head->xstate.components[i];
        if (component->bytes != 0 &&
            (component->offset < XSTATE_MIN || component->offset > head->xstate_bytes ||
             component->bytes > head->xstate_bytes - component->offset)) {
            return err_set(err, -EBADMSG,
                           "damaged image: bad size of processor state component %u in the header",
                           i);
        }
    }
    return 0;
}

static int check_arrays(const struct ckpt_head *head, struct err *err)
{
    for (unsigned i = 0; i < CKPT_TABLES; i++) {
        const struct ckpt_array *array = &head->tables[i];
        uint64_t room =
            array->offset <= head->tables_bytes ? head->tables_bytes - array->offset : 0;
        if (array->offset < sizeof *head || array->offset % 8 != 0 || array->count > UINT32_MAX ||
            array->count > room / tables_entry_bytes((enum ckpt_table)i)) {
            return err_set(err, -EBADMSG, "damaged image: table %u lies outside of the image", i);
        }
    }
    return 0;
}

static bool is_within(const struct image *image, enum ckpt_table table, struct ckpt_span span)
{
    uint64_t count = image->head.tables[table].count;
    return span.first <= count && span.count <= count - span.first;
}

static bool is_text(const struct image *image, uint32_t text)
{
    return text < image->head.tables[CKPT_TEXTS].count;
}

/* Checks that the last byte is zero, so that each text ends. */
static bool texts_end(const struct image *image)
{
    uint64_t count = image->head.tables[CKPT_TEXTS].count;
    return count > 0 && *(const char *)entry_at(image, CKPT_TEXTS, (uint32_t)count - 1) == '\0';
}

static bool is_process_right(const struct image *image, uint32_t index)
{
    const struct ckpt_process *process = image_process(image, index);
    bool ended = (process->flags & CKPT_ZOMBIE) != 0;
    bool kept = process->parent == CKPT_NOBODY;
    return (kept || process->parent < index) && !(index == 0 && (ended || !kept)) &&
           (ended == (process->threads.count == 0)) && is_text(image, process->exe) &&
           is_text(image, process->cwd) && is_text(image, process->root) &&
           is_text(image, process->command) && is_within(image, CKPT_REGIONS, process->regions) &&
           is_within(image, CKPT_THREADS, process->threads) &&
           is_within(image, CKPT_FDS, process->fds) &&
           is_within(image, CKPT_ACTIONS, process->actions) &&
           is_within(image, CKPT_SIGNALS, process->signals) &&
           is_within(image, CKPT_TIMERS, process->timers) &&
           is_within(image, CKPT_LIMITS, process->limits) &&
           is_within(image, CKPT_AUXV, process->auxv) &&
           process->threads.count <= CKPT_THREADS_MAX && process->pid > 0;
}

static bool is_memory_file(const struct image *image, uint64_t index)
{
    return index < image_count(image, CKPT_FILES) &&
           image_file(image, (uint32_t)index)->kind == CKPT_MEMORY_FILE;
}

/* What regions and files have taken of the image: no part of it twice, so that whoever copies all
 * of them never writes more than he has read. */
struct claims {
    uint64_t extents, bytes;
};

static bool claim_extents(const struct image *image, struct ckpt_span span, struct claims *claims)
{
    claims->extents += span.count;
    if (!is_within(image, CKPT_EXTENTS, span) ||
        claims->extents > image_count(image, CKPT_EXTENTS)) {
        return false;
    }
    for (uint32_t i = 0; i < span.count; i++) {
        const struct ckpt_extent *extent = image_extent(image, span.first + i);
        uint64_t bytes = (extent->flags & CKPT_IN_BASE) == 0 ? extent->bytes : 0;
        if (bytes > image->head.image_bytes - claims->bytes) {
            return false;
        }
        claims->bytes += bytes;
    }
    return true;
}

static bool is_region_right(const struct image *image, const struct ckpt_region *region,
                            struct claims *claims)
{
    const struct ckpt_head *head = &image->head;
    if (region->start >= region->end || region->start % CKPT_PAGE != 0 ||
        region->end % CKPT_PAGE != 0 || region->kind < CKPT_MEMORY || region->kind > CKPT_VVAR ||
        !is_text(image, region->file) || !claim_extents(image, region->extents, claims) ||
        (region->start < head->window + head->window_bytes && region->end > head->window)) {
        return false;
    }
    if (region->kind == CKPT_SHARED_MEMORY && !is_memory_file(image, region->id)) {
        return false;
    }
    for (uint32_t i = 0; i < region->extents.count; i++) {
        const struct ckpt_extent *extent = image_extent(image, region->extents.first + i);
        if (extent->start < region->start || extent->start > region->end ||
            extent->bytes > region->end - extent->start || extent->start % CKPT_PAGE != 0) {
            return false;
        }
    }
    return true;
}

static bool is_extent_right(const struct image *image, const struct ckpt_extent *extent)
{
    if ((extent->flags & CKPT_IN_BASE) != 0) {
        return (image->head.flags & CKPT_DELTA) != 0 && extent->offset == 0 && extent->sum == 0 &&
               extent->bytes % CKPT_PAGE == 0;
    }
    return extent->flags == 0 && extent->offset % CKPT_PAGE == 0 &&
           extent->offset <= image->head.image_bytes &&
           extent->bytes <= image->head.image_bytes - extent->offset;
}

static bool is_thread_right(const struct image *image, const struct ckpt_thread *thread)
{
    return thread->tid > 0 && is_text(image, thread->command) &&
           is_within(image, CKPT_XSTATES,
                     (struct ckpt_span){thread->xstate, image->head.xstate_bytes}) &&
           is_within(image, CKPT_SIGNALS, thread->signals);
}

static bool is_terminal_right(const struct image *image, const struct ckpt_file *file)
{
    return file->extents.count == 1 &&
           image_extent(image, file->extents.first)->bytes == sizeof(struct ckpt_terminal);
}

static bool is_file_right(const struct image *image, const struct ckpt_file *file,
                          struct claims *claims)
{
    if (!claim_extents(image, file->extents, claims)) {
        return false;
    }
    for (uint32_t i = 0; i < file->extents.count; i++) {
        if ((image_extent(image, file->extents.first + i)->flags & CKPT_IN_BASE) != 0) {
            return false;
        }
    }
    return file->kind >= CKPT_FILE && file->kind < CKPT_FD_KINDS && is_text(image, file->path) &&
           file->stdio <= 3 &&
           (file->kind != CKPT_FILE || file->id <= image_count(image, CKPT_FILES)) &&
           (file->kind != CKPT_NAMELESS || is_memory_file(image, file->id)) &&
           (file->kind != CKPT_TERMINAL || is_terminal_right(image, file)) &&
           (file->kind != CKPT_STDIO_AGAIN || file->detail < 3) &&
           (file->kind != CKPT_STDIO || file->stdio > 0);
}

static bool is_process(const struct image *image, uint32_t index)
{
    return index == CKPT_NOBODY || index < image_count(image, CKPT_PROCESSES);
}

static bool is_watch_right(const struct image *image, const struct ckpt_watch *watch)
{
    uint32_t files = image_count(image, CKPT_FILES);
    if (watch->in >= files || !is_text(image, watch->path) || !is_process(image, watch->process) ||
        watch->number < 0) {
        return false;
    }
    return watch->file == CKPT_NOBODY
               ? image_file(image, watch->in)->kind == CKPT_INOTIFY
               : watch->file < files && image_file(image, watch->in)->kind == CKPT_EPOLL;
}

static bool is_lock_right(const struct image *image, const struct ckpt_lock *lock)
{
    return lock->kind >= CKPT_FLOCK && lock->kind <= CKPT_POSIX_LOCK &&
           lock->file < image_count(image, CKPT_FILES) && is_process(image, lock->process) &&
           lock->number >= 0;
}

static int set_bad(struct err *err, const char *what, uint32_t index)
{
    return err_set(err, -EBADMSG, "damaged image: bad %s %u", what, (unsigned)index);
}

static int check_entries(const struct image *image, struct err *err)
{
    struct claims claims = {.bytes = 0};
    if (!texts_end(image)) {
        return err_set(err, -EBADMSG,
                       "damaged image: its table of texts does not end with a zero byte");
    }
    if (!is_text(image, image->head.kernel) || !is_text(image, image->head.host) ||
        !is_text(image, image->head.base)) {
        return err_set(err, -EBADMSG, "damaged image: bad header");
    }
    if (image_count(image, CKPT_PROCESSES) == 0 ||
        image_count(image, CKPT_PROCESSES) > CKPT_PROCESSES_MAX) {
        return err_set(err, -EBADMSG, "damaged image: no processes, or too many");
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_EXTENTS); i++) {
        if (!is_extent_right(image, image_extent(image, i))) {
            return set_bad(err, "extent", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_PROCESSES); i++) {
        if (!is_process_right(image, i)) {
            return set_bad(err, "process", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_REGIONS); i++) {
        if (!is_region_right(image, image_region(image, i), &claims)) {
            return set_bad(err, "region", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_THREADS); i++) {
        if (!is_thread_right(image, image_thread(image, i))) {
            return set_bad(err, "thread", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_FILES); i++) {
        if (!is_file_right(image, image_file(image, i), &claims)) {
            return set_bad(err, "file", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_FDS); i++) {
        if (image_fd(image, i)->fd < 0 ||
            image_fd(image, i)->file >= image_count(image, CKPT_FILES)) {
            return set_bad(err, "descriptor", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_WATCHES); i++) {
        if (!is_watch_right(image, entry_at(image, CKPT_WATCHES, i))) {
            return set_bad(err, "watch", i);
        }
    }
    for (uint32_t i = 0; i < image_count(image, CKPT_LOCKS); i++) {
        if (!is_lock_right(image, entry_at(image, CKPT_LOCKS, i))) {
            return set_bad(err, "lock", i);
        }
    }
    return 0;
}

int image_parse(const void *tables, size_t bytes, struct image **ret, struct err *err)
{
    struct ckpt_head head;
    if (bytes < sizeof head) {
        return err_set(err, -EBADMSG, "damaged image: its tables are cut off");
    }
    memcpy(&head, tables, sizeof head);
    int rc = check_head(&head, bytes, err);
    rc = rc != 0 ? rc : check_arrays(&head, err);
    if (rc != 0) {
        return rc;
    }
    struct image *image = mem_try_alloc(sizeof *image);
    unsigned char *copy = mem_try_alloc((size_t)head.tables_bytes);
    if (image == NULL || copy == NULL) {
        mem_free(image);
        mem_free(copy);
        return err_set(err, -ENOMEM, "the image's tables do not fit in memory");
    }
    memcpy(copy, tables, (size_t)head.tables_bytes);
    *image = (struct image){.head = head, .bytes = copy};
    struct ckpt_head unsummed = head;
    unsummed.sum = 0;
    memcpy(copy, &unsummed, sizeof unsummed);
    if (ckpt_sum(0, copy, (size_t)head.tables_bytes) != head.sum) {
        rc = err_set(err, -EBADMSG, "damaged image: bad checksum of its tables");
    }
    rc = rc != 0 ? rc : check_entries(image, err);
    if (rc != 0) {
        image_destroy(image);
        return rc;
    }
    *ret = image;
    return 0;
}

void image_destroy(struct image *image)
{
    if (image != NULL) {
        mem_free(image->bytes);
        mem_free(image);
    }
}

/* ---- what is in it */

const struct ckpt_head *image_head(const struct image *image)
{
    return &image->head;
}

uint32_t image_count(const struct image *image, enum ckpt_table table)
{
    return (uint32_t)image->head.tables[table].count;
}

const struct ckpt_process *image_process(const struct image *image, uint32_t index)
{
    return entry_at(image, CKPT_PROCESSES, index);
}

const struct ckpt_region *image_region(const struct image *image, uint32_t index)
{
    return entry_at(image, CKPT_REGIONS, index);
}

const struct ckpt_extent *image_extent(const struct image *image, uint32_t index)
{
    return entry_at(image, CKPT_EXTENTS, index);
}

const struct ckpt_thread *image_thread(const struct image *image, uint32_t index)
{
    return entry_at(image, CKPT_THREADS, index);
}

const struct ckpt_fd *image_fd(const struct image *image, uint32_t index)
{
    return entry_at(image, CKPT_FDS, index);
}

const struct ckpt_file *image_file(const struct image *image, uint32_t index)
{
    return entry_at(image, CKPT_FILES, index);
}

const uint8_t *image_xstate(const struct image *image, const struct ckpt_thread *thread)
{
    return entry_at(image, CKPT_XSTATES, thread->xstate);
}

bool image_is_delta(const struct image *image)
{
    return (image->head.flags & CKPT_DELTA) != 0;
}

const void *image_table(const struct image *image, enum ckpt_table table)
{
    return entry_at(image, table, 0);
}

const char *image_text(const struct image *image, uint32_t text)
{
    return entry_at(image, CKPT_TEXTS, text);
}
