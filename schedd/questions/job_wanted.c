/* schedd/questions/job_wanted.c - see job_wanted.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_wanted.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/schedd_state.h"

static int by_id(const void *a, const void *b)
{
    const struct wanted *left = *(struct wanted *const *)a, *right = *(struct wanted *const *)b;
    if (left->cluster != right->cluster) {
        return left->cluster < right->cluster ? -1 : 1;
    }
    return left->proc < right->proc ? -1 : left->proc > right->proc;
}

static void want_job(struct vec *ids, int64_t cluster, int64_t proc)
{
    struct wanted *wanted = mem_alloc(sizeof(*wanted));
    *wanted = (struct wanted){cluster, proc};
    vec_push(ids, wanted);
}

/* Sorts the list by id and removes repetitions. */
static void sort_wanted(struct vec *ids)
{
    size_t kept = 0;
    if (ids->count > 1) {
        qsort(ids->items, ids->count, sizeof(*ids->items), by_id);
    }
    for (size_t i = 0; i < ids->count; i++) {
        struct wanted *one = ids->items[i];
        const struct wanted *before = kept > 0 ? ids->items[kept - 1] : NULL;
        if (before != NULL && before->cluster == one->cluster &&
            (before->proc < 0 || before->proc == one->proc)) {
            mem_free(one);
        } else {
            ids->items[kept++] = one;
        }
    }
    ids->count = kept;
}

void wanted_all(struct schedd *schedd, struct vec *ids)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        want_job(ids, ((const struct cluster *)value)->id, -1);
    }
}

int wanted_read(struct schedd *schedd, const struct ad *args, struct vec *ids, struct err *err)
{
    struct ad_value list;
    int result = 0;
    (void)ad_eval_attr(args, NULL, "Ids", NULL, &list); /* absent: undefined */
    if (list.type == AD_TYPE_UNDEFINED) {
        wanted_all(schedd, ids);
    }
    size_t count = ad_value_count(&list);
    if (count > WANTED_IDS_MAX) {
        result = err_set(err, -E2BIG, "more than %d Ids", WANTED_IDS_MAX);
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value item;
        int64_t cluster = 0;
        int64_t proc = -1;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING && job_id_parse(item.string.text, &cluster, &proc)) {
            want_job(ids, cluster, proc);
        } else {
            result =
                err_set(err, -EINVAL, "Ids is not a list of strings such as \"12\" or \"12.3\"");
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    sort_wanted(ids);
    return result;
}
