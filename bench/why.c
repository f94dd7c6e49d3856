/* bench/why.c - how long `roost why` thinks: one job against 10,000 slots of 169 attributes.
 *
 * Two pools: 32 kinds of machines, as pools are; and one where every slot has a Memory of its own,
 * so that none is like another.  The job matches nothing, so that changes are looked for and tried.
 *
 * SHORT: BENCH_PART=50
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "cli/why/why_plan.h"

#define SLOTS      10000
#define SLOT_ATTRS 169

static double cpu_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct ad *make_slot(int number, bool alike)
{
    struct ad *slot = ad_create();
    char text[64];
    (void)snprintf(text, sizeof text, "slot1@node%d.example.org", number);
    ad_set_string(slot, "Name", text);
    ad_set_string(slot, "Arch", number % 4 == 0 ? "AARCH64" : "X86_64");
    ad_set_string(slot, "OpSys", "LINUX");
    ad_set_int(slot, "Memory", alike ? 4096 * (1 + number % 8) : 4096 + number);
    ad_set_int(slot, "Cpus", 8);
    ad_set_int(slot, "Disk", 500000);
    ad_set_int(slot, "KeyboardIdle", 1200 + 100 * (number % 2));
    CHECK(ad_set_expr(slot, "Start", "KeyboardIdle > 900 && TARGET.RequestMemory < 64000", NULL) ==
          0);
    CHECK(ad_set_expr(slot, "Requirements", "Start", NULL) == 0);
    for (int i = (int)ad_count(slot); i < SLOT_ATTRS; i++) {
        (void)snprintf(text, sizeof text, "DetectedThing%d", i);
        ad_set_int(slot, text, i * number);
    }
    return slot;
}

static void run(const char *name, bool alike)
{
    const int count = part_of(SLOTS);
    struct why_other *others = mem_alloc((size_t)count * sizeof *others);
    struct ad **slots = mem_alloc((size_t)count * sizeof *slots);
    for (int i = 0; i < count; i++) {
        slots[i] = make_slot(i, alike);
        others[i] = (struct why_other){.ad = slots[i], .offline = i % 3 == 0, .weight = 1};
    }
    struct ad *job = ad_create();
    ad_set_int(job, "RequestMemory", 99999);
    ad_set_int(job, "RequestCpus", 1);
    ad_set_int(job, "RequestDisk", 1024);
    CHECK(
        ad_set_expr(job, "Requirements",
                    "(TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && (TARGET.Disk >= "
                    "RequestDisk) && (TARGET.Memory >= RequestMemory) && (TARGET.Cpus >= "
                    "RequestCpus)",
                    NULL) == 0);
    const struct ad_context context = {.now_s = 1700000000};
    const struct why_question question = {.ad = job,
                                          .others = others,
                                          .other_count = (size_t)count,
                                          .context = &context,
                                          .changes = true};
    const int rounds = 5;
    double start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        struct why_answer *answer = why_plan_answer(&question);
        CHECK(why_sum(answer->matching) == 0 && answer->change_count > 0);
        why_answer_destroy(answer);
    }
    (void)printf("BENCH %s %.1f ms\n", name, (cpu_s() - start) / rounds * 1e3);
    for (int i = 0; i < count; i++) {
        ad_destroy(slots[i]);
    }
    ad_destroy(job);
    mem_free(slots);
    mem_free(others);
}

int main(void)
{
    run("why_10k_slots_of_32_kinds", true);
    run("why_10k_slots_each_another", false);
    return 0;
}
