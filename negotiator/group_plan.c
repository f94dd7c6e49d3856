/* negotiator/group_plan.c - computes quotas and surplus of accounting groups: see group_plan.h.
 *
 * Parents come before their children in the array, so a walk upwards in it serves parents first,
 * and a walk downwards children first.  Surplus is shared in passes: who wants less than his part
 * gets all he wants, and the others share the rest again.  Each pass serves at least one
 * completely, or is the last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/group_plan.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define NONE SIZE_MAX
#define DUST 1e-9 /* less than this weight is nothing: sums of parts are not exact */

struct tree {
    struct group_entry *groups;
    size_t count;
    size_t *first_child, *next_sibling; /* NONE: no more */
    double *open;                       /* what a group and those below it that accept still want */
    double *given;                      /* scratch of one filling, by group */
};

static double at_least_0(double value)
{
    return value > DUST ? value : 0;
}

/* ---- quotas */

struct sums {
    double fixed, dynamic; /* configured quotas of the children */
};

void group_plan_quotas(struct group_entry *groups, size_t count, double total, bool oversubscribe)
{
    struct sums *sums = mem_zalloc(count * sizeof *sums);
    for (size_t i = 1; i < count; i++) {
        struct sums *parent = &sums[groups[i].parent];
        *(groups[i].is_dynamic ? &parent->dynamic : &parent->fixed) += groups[i].config_quota;
    }
    groups[0].subtree_quota = groups[0].quota = total;
    for (size_t i = 1; i < count; i++) {
        struct group_entry *group = &groups[i], *parent = &groups[group->parent];
        const struct sums *sum = &sums[group->parent];
        double above = parent->subtree_quota;
        double fixed = oversubscribe || sum->fixed < above ? sum->fixed : above;
        double rest = above > fixed ? above - fixed : 0;
        double part = 0;
        if (!group->is_dynamic) {
            part = sum->fixed > 0 ? group->config_quota * (fixed / sum->fixed) : 0;
        } else {
            double whole = sum->dynamic < 1 ? 1 : sum->dynamic;
            part = group->config_quota * (rest / whole);
        }
        group->subtree_quota = group->quota = above > 0 ? part : 0;
        if (!oversubscribe || group->parent == 0) { /* the whole pool is nobody's own */
            parent->quota = at_least_0(parent->quota - group->subtree_quota);
        }
    }
    mem_free(sums);
}

/* ---- surplus */

static void sum_open(struct tree *tree, size_t index)
{
    double open = tree->groups[index].requested;
    for (size_t child = tree->first_child[index]; child != NONE;
         child = tree->next_sibling[child]) {
        open += tree->groups[child].accept_surplus ? tree->open[child] : 0;
    }
    tree->open[index] = open;
}

/* Returns what a member wants: the parent for itself, a child for everything below it. */
static double wish_of(const struct tree *tree, size_t index, size_t parent)
{
    return index == parent ? tree->groups[index].requested : tree->open[index];
}

static double weight_of(const struct tree *tree, size_t index, size_t parent)
{
    const struct group_entry *group = &tree->groups[index];
    return index == parent ? group->quota : group->subtree_quota;
}

struct filling {
    double rate; /* surplus for each unit of quota at which this one is served whole */
    size_t index;
};

static int by_rate(const void *left, const void *right)
{
    const struct filling *a = left, *b = right;
    return a->rate != b->rate ? (a->rate < b->rate ? -1 : 1)
                              : (a->index > b->index) - (a->index < b->index);
}

/* Shares an amount among the list, by quota or equally; sets `given`.  Returns the rest. */
static double share_amount(struct tree *tree, struct filling *list, size_t count, size_t parent,
                           bool by_quota, double amount)
{
    double whole = 0;
    for (size_t i = 0; i < count; i++) {
        size_t index = list[i].index;
        double weight = by_quota ? weight_of(tree, index, parent) : 1;
        list[i].rate = wish_of(tree, index, parent) / weight;
        whole += weight;
    }
    qsort(list, count, sizeof *list, by_rate);
    for (size_t i = 0; i < count && amount > DUST; i++) {
        size_t index = list[i].index;
        double weight = by_quota ? weight_of(tree, index, parent) : 1;
        double part = whole > 0 ? amount * weight / whole : amount;
        double want = wish_of(tree, index, parent);
        tree->given[index] = part < want ? part : want;
        amount -= tree->given[index];
        whole -= weight;
    }
    return at_least_0(amount);
}

/* Gives surplus to a group and those below it that accept surplus.  Returns what is left. */
static double give_surplus(struct tree *tree, size_t parent, double surplus)
{
    if (surplus <= DUST || tree->open[parent] <= DUST) {
        return surplus;
    }
    size_t with = 0, without = 0, size = 1;
    for (size_t child = tree->first_child[parent]; child != NONE;
         child = tree->next_sibling[child]) {
        size++;
    }
    struct filling *list = mem_alloc(size * sizeof *list); /* with quota from the front */
    for (size_t next = parent; next != NONE;
         next = next == parent ? tree->first_child[parent] : tree->next_sibling[next]) {
        tree->given[next] = 0;
        if ((next != parent && !tree->groups[next].accept_surplus) ||
            wish_of(tree, next, parent) <= DUST) {
            continue;
        }
        if (weight_of(tree, next, parent) > DUST) {
            list[with++].index = next;
        } else {
            list[size - ++without].index = next;
        }
    }
    surplus = share_amount(tree, list, with, parent, true, surplus);
    surplus = share_amount(tree, list + size - without, without, parent, false, surplus);
    mem_free(list);
    struct group_entry *group = &tree->groups[parent];
    group->allocated += tree->given[parent];
    group->requested = at_least_0(group->requested - tree->given[parent]);
    for (size_t child = tree->first_child[parent]; child != NONE;
         child = tree->next_sibling[child]) {
        double given = tree->given[child];
        surplus += given > DUST ? give_surplus(tree, child, given) : 0;
    }
    sum_open(tree, parent);
    return surplus;
}

double group_plan_allocate(struct group_entry *groups, size_t count)
{
    struct tree tree = {.groups = groups, .count = count};
    double *surplus = mem_zalloc(count * sizeof *surplus);
    double *taken = mem_zalloc(count * sizeof *taken); /* allocated to all of the subtree */
    tree.first_child = mem_alloc(count * sizeof *tree.first_child);
    tree.next_sibling = mem_alloc(count * sizeof *tree.next_sibling);
    tree.open = mem_zalloc(count * sizeof *tree.open);
    tree.given = mem_zalloc(count * sizeof *tree.given);
    for (size_t i = 0; i < count; i++) {
        tree.first_child[i] = tree.next_sibling[i] = NONE;
    }
    for (size_t i = count; i-- > 1;) {
        tree.next_sibling[i] = tree.first_child[groups[i].parent];
        tree.first_child[groups[i].parent] = i;
    }
    for (size_t i = count; i-- > 0;) {
        struct group_entry *group = &groups[i];
        if (group->ceiling >= 0 && group->requested > group->ceiling) {
            group->requested = group->ceiling;
        }
        group->allocated = group->requested < group->quota ? group->requested : group->quota;
        group->requested -= group->allocated;
        taken[i] += group->allocated;
        surplus[i] += group->quota - group->allocated;
        /* an own quota that is the whole subtree's: what those below have of it is not there */
        double left = at_least_0(group->subtree_quota - taken[i]);
        surplus[i] = surplus[i] < left ? surplus[i] : left;
        sum_open(&tree, i);
        left = give_surplus(&tree, i, surplus[i]);
        taken[i] += surplus[i] - left;
        surplus[i] = left;
        if (i > 0) {
            surplus[group->parent] += surplus[i];
            taken[group->parent] += taken[i];
        }
    }
    double left = surplus[0];
    mem_free(surplus);
    mem_free(taken);
    mem_free(tree.first_child);
    mem_free(tree.next_sibling);
    mem_free(tree.open);
    mem_free(tree.given);
    return left;
}

/* ---- names and order */

double group_plan_sort_key(const struct group_entry *groups, size_t index)
{
    const struct group_entry *group = &groups[index];
    if (index == 0) {
        return DBL_MAX;
    }
    return group->quota > 0 ? group->in_use / group->quota : DBL_MAX / 2;
}

size_t group_plan_of(const struct group_entry *groups, size_t count, const char *submitter)
{
    const char *at = strrchr(submitter, '@');
    size_t end = at != NULL ? (size_t)(at - submitter) : strlen(submitter);
    size_t best = 0, best_length = 0;
    for (size_t i = 1; i < count; i++) {
        size_t length = strlen(groups[i].name), same = 0;
        if (length >= end || submitter[length] != '.' || length <= best_length) {
            continue;
        }
        while (same < length && text_lower(groups[i].name[same]) == text_lower(submitter[same])) {
            same++;
        }
        if (same == length) {
            best = i;
            best_length = length;
        }
    }
    return best;
}
