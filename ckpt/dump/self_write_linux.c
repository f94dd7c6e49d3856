/* ckpt/dump/self_write_linux.c - a stopped process writes its own pages: see self_write_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/dump/self_write_linux.h"

#include <errno.h>
#include <sys/syscall.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/image/new_file_linux.h"
#include "ckpt/tracee/tracee_linux.h"

#define SHORT ((size_t)64 * 1024) /* less is not worth a call */
#define BLOCK \
    ((uint64_t)16 << 20) /* a call: long beside what a call costs, short beside an image */
#define CHUNK ((size_t)1024 * 1024) /* of what we write ourselves */

bool self_write_takes(const struct self_write *self, uint64_t from, size_t bytes, uint64_t at)
{
    const struct self_part *next = &self->next;
    bool follows =
        next->bytes > 0 && next->from + next->bytes == from && next->at + next->bytes == at;
    return self->source != NULL && (bytes >= SHORT || follows);
}

/* Writes what the process has not written. */
static int write_rest(const struct self_write *self, const struct self_part *part, uint64_t done)
{
    unsigned char *chunk = mem_alloc(CHUNK);
    int rc = 0;
    while (rc == 0 && done < part->bytes) {
        uint64_t left = part->bytes - done;
        ssize_t got = tracee_read(self->source, part->from + done, chunk,
                                  left < CHUNK ? (size_t)left : CHUNK);
        rc = got > 0   ? new_file_write(self->out, chunk, (size_t)got, part->at + done)
             : got < 0 ? (int)got
                       : -EIO;
        done += rc == 0 ? (uint64_t)got : 0;
    }
    mem_free(chunk);
    return rc;
}

static int await_write(struct self_write *self, struct err *err)
{
    struct self_part *part = &self->running;
    if (part->bytes == 0) {
        return 0;
    }
    long done = tracee_await_call(self->source, 0);
    int rc = done == (long)part->bytes ? 0 : write_rest(self, part, done > 0 ? (uint64_t)done : 0);
    *part = (struct self_part){.from = 0};
    return rc != 0 ? err_set(err, rc, "cannot write the image: %s", err_code_text(rc)) : 0;
}

static int start_write(struct self_write *self, struct err *err)
{
    struct self_part *part = &self->next;
    int rc = await_write(self, err);
    if (rc == 0 && part->bytes > 0) {
        const uint64_t args[6] = {(uint64_t)self->inner, part->from, part->bytes, part->at};
        rc = tracee_start_call(self->source, 0, SYS_pwrite64, args);
        rc = rc != 0 ? err_set(err, rc, "process %d: cannot make the process write its image: %s",
                               (int)self->source->pid, err_code_text(rc))
                     : 0;
        self->running = rc == 0 ? *part : self->running;
    }
    *part = (struct self_part){.from = 0};
    return rc;
}

int self_write_add(struct self_write *self, uint64_t from, size_t bytes, uint64_t at,
                   struct err *err)
{
    struct self_part *next = &self->next;
    bool follows = next->from + next->bytes == from && next->at + next->bytes == at;
    int rc = next->bytes > 0 && !follows ? start_write(self, err) : 0;
    if (next->bytes == 0) {
        *next = (struct self_part){.from = from, .at = at};
    }
    next->bytes += bytes;
    return rc == 0 && next->bytes >= BLOCK ? start_write(self, err) : rc;
}

int self_write_finish(struct self_write *self, struct err *err)
{
    int rc = self->source != NULL ? start_write(self, err) : 0;
    int last = self->source != NULL ? await_write(self, rc == 0 ? err : NULL) : 0;
    return rc != 0 ? rc : last;
}
