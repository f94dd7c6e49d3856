/* ckpt/dump/dump_put_linux.c - writes contents to the image that is being made: see dump.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/err.h"
#include "ckpt/dump/dump.h"
#include "ckpt/image/frame.h"
#include "ckpt/image/new_file_linux.h"
#include "ckpt/sum.h"

int dump_put(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes,
             struct err *err)
{
    int rc = new_file_write(dump->out, data, bytes, dump->at);
    if (rc != 0) {
        return err_set(err, rc, "cannot write the image: %s", err_code_text(rc));
    }
    dump_count(dump, extent, data, bytes);
    return 0;
}

void dump_count(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes)
{
    extent->sum = ckpt_sum_by(dump->sums_fast, extent->sum, data, bytes);
    extent->bytes += bytes;
    dump->at += bytes;
}

void dump_begin_extent(struct dump *dump, struct ckpt_extent *extent, uint64_t start)
{
    dump->at = frame_round_up(dump->at);
    *extent = (struct ckpt_extent){.start = start, .offset = dump->at};
}
