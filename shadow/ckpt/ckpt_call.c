/* shadow/ckpt/ckpt_call.c - see ckpt_call.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_call.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"

void ckpt_call_destroy(struct ckpt_call *call)
{
    for (size_t i = 0; i < CKPT_GENERATIONS; i++) {
        mem_free(call->found[i]);
    }
    ad_destroy(call->manifest);
    mem_free(call->reason);
    mem_free(call->bytes);
    mem_free(call);
}

char *ckpt_call_place(const struct run *run, int64_t sequence)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s/%" PRId64, run->shadow->ckpt.directory, run->id, sequence);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

int64_t ckpt_call_size_in(struct run *run, const char *directory, const char *name)
{
    struct os_stat stat;
    return os_below_stat(run->shadow->os, directory, name, &stat) == 0 && stat.is_file
               ? stat.size_bytes
               : 0;
}
