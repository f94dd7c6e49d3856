/* shadow/stage/stage_sweep.c - see stage_sweep.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/stage/stage_sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "shadow/path_join.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"

struct sweep {
    struct shadow *shadow;
    const char *above; /* their directory, borrowed from shadow */
    struct vec names;  /* names of directories to be removed */
};

static void collect_name(void *arg, const char *name)
{
    struct sweep *sweep = arg;
    vec_push(&sweep->names, mem_strdup(name));
}

bool stage_sweep_lists(const char *known, const char *name)
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".part") == 0) {
        length -= 5;
    }
    for (const char *at = known; at != NULL && *at != '\0';) {
        size_t item = strcspn(at, ",");
        if (item == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at = at[item] == ',' ? at + item + 1 : NULL;
    }
    return false;
}

static bool is_of_a_run(const struct shadow *shadow, const char *name)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, NULL, &value)) {
        char id[64];
        const struct run *run = value;
        (void)snprintf(id, sizeof(id), "%s.%" PRId64, run->id, run->epoch); /* fits */
        if (stage_sweep_lists(id, name)) {
            return true;
        }
    }
    return false;
}

static int sweep_body(void *arg)
{
    const struct sweep *sweep = arg;
    for (size_t i = 0; i < sweep->names.count; i++) {
        char *path = path_join(sweep->above, sweep->names.items[i]);
        (void)os_remove_tree(sweep->shadow->os, path, NULL); /* the next shadow tries again */
        mem_free(path);
    }
    return 0;
}

static void sweep_destroy(void *value)
{
    struct sweep *sweep = value;
    vec_fini(&sweep->names, mem_free);
    mem_free(sweep);
}

static void sweep_done(void *arg, int result)
{
    (void)result;
    struct sweep *sweep = arg;
    struct vec *sweeps = &sweep->shadow->sweeps;
    for (size_t i = 0; i < sweeps->count; i++) {
        if (sweeps->items[i] == sweep) {
            vec_remove_at(sweeps, i);
            break;
        }
    }
    sweep_destroy(sweep);
}

void stage_sweep_end(struct shadow *shadow)
{
    vec_fini(&shadow->sweeps, sweep_destroy);
}

static void sweep_below(struct shadow *shadow, const char *above, const char *known)
{
    struct sweep *made = mem_zalloc(sizeof(*made));
    made->shadow = shadow;
    made->above = above;
    struct vec all = {0};
    struct sweep listing = {.shadow = shadow};
    if (os_list(shadow->os, above, collect_name, &listing, NULL) == 0) {
        all = listing.names;
    }
    for (size_t i = 0; i < all.count; i++) {
        if (!stage_sweep_lists(known, all.items[i]) && !is_of_a_run(shadow, all.items[i])) {
            vec_push(&made->names, mem_strdup(all.items[i]));
        }
    }
    vec_fini(&all, mem_free);
    vec_push(&shadow->sweeps, made);
    loop_lane_run(shadow->lanes[0], sweep_body, sweep_done, made);
}

void stage_sweep_stages(struct shadow *shadow, const char *known)
{
    sweep_below(shadow, shadow->stages, known);
}

void stage_sweep_spools(struct shadow *shadow, const char *known)
{
    sweep_below(shadow, shadow->spools, known);
}
