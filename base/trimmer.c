/* base/trimmer.c - see trimmer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/trimmer.h"

#include <stddef.h>

#include "base/loop.h"
#include "base/mem.h"

#define LOOK_MS 1000

static void look_whether_still(void *arg)
{
    struct trimmer *trimmer = arg;
    if (trimmer->moved == trimmer->before) {
        trimmer->moved = trimmer->before = 0;
        mem_trim();
    } else {
        trimmer->before = trimmer->moved;
        loop_timer_set(trimmer->timer, LOOK_MS);
    }
}

void trimmer_init(struct trimmer *trimmer, struct loop *loop, uint64_t enough)
{
    *trimmer = (struct trimmer){.enough = enough};
    trimmer->timer = loop_timer_create(loop, look_whether_still, trimmer);
}

void trimmer_fini(struct trimmer *trimmer)
{
    loop_timer_destroy(trimmer->timer);
    trimmer->timer = NULL;
}

void trimmer_moved(struct trimmer *trimmer, uint64_t weight)
{
    trimmer->moved += weight;
    if (trimmer->moved >= trimmer->enough && !loop_timer_is_set(trimmer->timer)) {
        loop_timer_set(trimmer->timer, LOOK_MS);
    }
}
