/* rsyscall/wrap/wrap_taken.c - the locks that this process has taken: see wrap.h.
 *
 * A process that was resumed from an image finds another door, and a server that does not know its
 * locks.  The process takes them again.  If another process has one of them by now, or if the locks
 * are not known (an earlier program of this process took them, or there were too many), every later
 * call on the file fails with ESTALE, because the program would not read or write what it locked.
 *
 * A child shares the locks that belong to the opened file.  If its parent releases one, a resumed
 * child takes it again until it closes the file: that is better than to continue without a lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap.h"

static void drop_taken(size_t i)
{
    wrap_all.taken[i] = wrap_all.taken[--wrap_all.taken_count];
}

static void add_taken(const struct wrap_taken *taken)
{
    if (wrap_all.taken_count == WRAP_TAKEN_MAX) {
        taken->file->locks_unknown = true;
    } else {
        wrap_all.taken[wrap_all.taken_count++] = *taken;
    }
}

/* True when both locks have the same owner and file.  Locks of a process do not depend on a
 * descriptor. */
static bool is_kin(const struct wrap_taken *a, const struct wrap_taken *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    return a->kind == WRAP_LOCK_OF_PROCESS
               ? a->file->dev == b->file->dev && a->file->ino == b->file->ino
               : a->file == b->file;
}

/* Removes the range from the known locks of its owner; the rest of a cut lock stays. */
static void take_out(const struct wrap_taken *range)
{
    for (size_t i = wrap_all.taken_count; i > 0; i--) {
        struct wrap_taken each = wrap_all.taken[i - 1];
        if (!is_kin(&each, range) || each.end < range->start || each.start > range->end) {
            continue;
        }
        drop_taken(i - 1);
        struct wrap_taken before = each, behind = each;
        if (each.start < range->start) {
            before.end = range->start - 1;
            add_taken(&before);
        }
        if (each.end > range->end) {
            behind.start = range->end + 1;
            add_taken(&behind);
        }
    }
}

void wrap_taken_note(struct wrap_file *file, const struct rsys_request *request)
{
    struct wrap_taken taken = {.file = file, .type = request->lock.type, .end = UINT64_MAX};
    taken.kind = (request->how & RSYS_LOCK_FLOCK) != 0        ? WRAP_LOCK_OF_ALL
                 : (request->owner & WRAP_OWNED_BY_FILE) != 0 ? WRAP_LOCK_OF_FILE
                                                              : WRAP_LOCK_OF_PROCESS;
    if (taken.kind != WRAP_LOCK_OF_ALL) {
        taken.start = request->lock.start;
        taken.end = request->lock.length == 0 ? UINT64_MAX : taken.start + request->lock.length - 1;
    }
    take_out(&taken);
    if (taken.type != RSYS_UNLOCKED) {
        add_taken(&taken);
    }
}

void wrap_taken_over(const struct wrap_file *file, enum wrap_lock_kind kind)
{
    for (size_t i = wrap_all.taken_count; i > 0; i--) {
        const struct wrap_taken *each = &wrap_all.taken[i - 1];
        bool same = kind == WRAP_LOCK_OF_PROCESS
                        ? each->file->dev == file->dev && each->file->ino == file->ino
                        : each->file == file;
        if (each->kind == kind && same) {
            drop_taken(i - 1);
        }
    }
}

void wrap_taken_of_parent(void)
{
    for (size_t i = wrap_all.taken_count; i > 0; i--) {
        if (wrap_all.taken[i - 1].kind == WRAP_LOCK_OF_PROCESS) {
            drop_taken(i - 1);
        }
    }
}

void wrap_taken_again(void)
{
    for (size_t i = 0; i < wrap_all.files_end; i++) {
        struct wrap_file *file = &wrap_all.files[i];
        file->lost = file->lost || (file->refs > 0 && file->locks_unknown);
    }
    for (size_t i = 0; i < wrap_all.taken_count; i++) {
        const struct wrap_taken *each = &wrap_all.taken[i];
        struct rsys_request request = {
            .op = RSYS_LOCK,
            .at = {.handle = each->file->handle},
            .how = each->kind == WRAP_LOCK_OF_ALL ? RSYS_LOCK_FLOCK : 0,
            .owner = each->kind == WRAP_LOCK_OF_FILE ? WRAP_OWNED_BY_FILE | each->file->handle
                                                     : (uint64_t)getpid(),
            .lock = {.type = each->type,
                     .start = each->start,
                     .length = each->end == UINT64_MAX ? 0 : each->end - each->start + 1}};
        struct rsys_reply reply;
        each->file->lost = wrap_call(&request, &reply) != 0 || each->file->lost;
    }
}

static bool is_taken(const struct wrap_file *file)
{
    bool ret = file->locks_unknown;
    for (size_t i = 0; i < wrap_all.taken_count; i++) {
        ret = ret || wrap_all.taken[i].file == file;
    }
    return ret;
}

void wrap_taken_tell(char *ret, size_t size)
{
    size_t at = 0;
    ret[0] = '\0';
    for (int fd = 0; fd < WRAP_FDS_MAX; fd++) {
        if (wrap_all.fds[fd] == NULL || !is_taken(wrap_all.fds[fd])) {
            continue;
        }
        int length = snprintf(ret + at, size - at, "%c%d", WRAP_KEPT_TAKEN, fd);
        if (length < 0 || (size_t)length >= size - at) {
            (void)snprintf(ret, size, "%c", WRAP_KEPT_TAKEN); /* too many: on all */
            return;
        }
        at += (size_t)length;
    }
}

bool wrap_taken_was_told(int fd)
{
    const char *at = wrap_all.kept_taken;
    bool ret = at[0] == WRAP_KEPT_TAKEN && at[1] == '\0';
    while (!ret && *at == WRAP_KEPT_TAKEN) {
        char *end;
        ret = strtol(at + 1, &end, 10) == fd && end != at + 1;
        at = end;
    }
    return ret;
}
