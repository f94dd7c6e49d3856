/* negotiator/plan_queue.c - counts idle jobs: all, and those that match a machine.
 *
 * What matches what was judged for the cycles already, for pairs of kinds; a count is a pass over
 * the requests that looks up bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/mem.h"
#include "negotiator/plan_state.h"

static void add_jobs(const struct plan_request *facts, struct plan_queue *ret)
{
    ret->jobs += facts->count;
    if (ret->first_s == 0 || facts->qdate_s < ret->first_s) {
        ret->first_s = facts->qdate_s;
    }
}

static bool has_jobs(const struct request *request)
{
    return request->there && request->facts.count > 0;
}

int64_t plan_queue_wait_s(const struct plan_queue *queue, int64_t now_s)
{
    return queue->first_s > 0 && queue->first_s < now_s ? now_s - queue->first_s : 0;
}

void negotiator_plan_queue(const struct negotiator_plan *plan, struct plan_queue *ret)
{
    *ret = (struct plan_queue){0};
    for (uint32_t i = 0; i < plan->request_room; i++) {
        if (has_jobs(&plan->requests[i])) {
            add_jobs(&plan->requests[i].facts, ret);
        }
    }
}

static const char *name_of_machine(const struct negotiator_plan *plan, uint32_t machine)
{
    return plan->slots[plan->by_name[plan->machines[machine].first]].machine_name;
}

/* Returns the machine of that name; NULL: there is none. */
static const struct machine *find_machine(const struct negotiator_plan *plan, const char *name)
{
    uint32_t low = 0, high = plan->machine_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(name_of_machine(plan, middle), name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < plan->machine_count && strcmp(name_of_machine(plan, low), name) == 0
               ? &plan->machines[low]
               : NULL;
}

static bool matches_machine(const struct negotiator_plan *plan, const struct machine *machine,
                            const uint64_t *bits, size_t words)
{
    uint32_t before = NUMBER_NONE;
    for (uint32_t i = 0; i < machine->count; i++) {
        const struct slot *slot = &plan->slots[plan->by_name[machine->first + i]];
        uint32_t kind = slot->kind;
        if (!slot->keyed || kind == before || kind / 64 >= words) {
            continue; /* the slots of a machine are mostly of one kind */
        }
        before = kind;
        if ((bits[kind / 64] >> kind % 64 & 1) != 0) {
            return true;
        }
    }
    return false;
}

void negotiator_plan_matching(struct negotiator_plan *plan, const char *const *machines,
                              size_t count, struct plan_queue *ret)
{
    const struct machine **found = mem_alloc((count + 1) * sizeof *found);
    plan_name_slots(plan);
    for (size_t i = 0; i < count; i++) {
        found[i] = find_machine(plan, machines[i]);
        ret[i] = (struct plan_queue){.jobs = found[i] != NULL ? 0 : -1};
    }
    for (uint32_t i = 0; i < plan->request_room; i++) {
        const struct request *request = &plan->requests[i];
        if (!has_jobs(request) || !request->keyed) {
            continue;
        }
        size_t words;
        const uint64_t *bits = verdicts_known(plan->verdicts, request->kind, &words);
        for (size_t j = 0; j < count; j++) {
            if (bits == NULL) {
                ret[j].jobs = -1; /* what it matches is being found out */
            } else if (ret[j].jobs >= 0 && matches_machine(plan, found[j], bits, words)) {
                add_jobs(&request->facts, &ret[j]);
            }
        }
    }
    mem_free(found);
}
