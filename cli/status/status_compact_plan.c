/* cli/status/status_compact_plan.c - see status_compact_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status/status_compact_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/status/status_cells_plan.h"
#include "cli/status/status_totals_plan.h"
#include "cli/table_plan.h"
#include "offline_ads/offline_ads.h"

#define STARTS_WINDOW_MIN 20.0 /* minutes that RecentJobStarts covers */

/* ---- one machine, as an ad of what its line shows */

struct machine {
    int64_t slots, static_slots, cpus, gpus, free_cpus;
    double total_mib, free_mib, load, starts, largest_mib;
    char state, activity; /* first letters; '*': the slots differ */
    /* the partitionable slot; its state is shown when there are no other slots; NULL: none */
    const struct ad *whole;
    const char *power; /* the power state of the first slot that is not on; "On": all are */
};

#define POWER_ON "On"

static char first_letter(const char *word)
{
    return word[0] ? word[0] : '?';
}

static void note_state(struct machine *machine, const struct ad *slot)
{
    bool silent = offline_ads_is_silent(slot);
    char state = first_letter(silent ? "" : ad_string_or(slot, "State", ""));
    char activity = first_letter(silent ? "" : ad_string_or(slot, "Activity", ""));
    activity = activity >= 'A' && activity <= 'Z' ? (char)(activity + ('a' - 'A')) : activity;
    machine->state = machine->state == 0 || machine->state == state ? state : '*';
    machine->activity = machine->activity == 0 || machine->activity == activity ? activity : '*';
}

static void note_largest(struct machine *machine, double mib)
{
    machine->largest_mib = mib > machine->largest_mib ? mib : machine->largest_mib;
}

static void add_slot(struct machine *machine, const struct ad *slot)
{
    int64_t cpus = ad_int_or(slot, "Cpus", 0);
    double memory = ad_real_or(slot, "Memory", 0);
    bool dynamic = ad_bool_or(slot, "DynamicSlot", false);
    bool partitionable = ad_bool_or(slot, "PartitionableSlot", false);
    bool silent = offline_ads_is_silent(slot);
    bool free =
        !silent && (partitionable || strcmp(ad_string_or(slot, "State", ""), "Unclaimed") == 0);
    const char *power = status_power_state(slot);
    machine->power = strcmp(machine->power, POWER_ON) == 0 ? power : machine->power;
    machine->starts += ad_real_or(slot, "RecentJobStarts", 0);
    if (partitionable) {
        machine->whole = slot;
    } else {
        note_state(machine, slot);
    }
    machine->slots += partitionable ? 0 : 1;
    machine->static_slots += partitionable || dynamic ? 0 : 1;
    machine->load += ad_real_or(slot, "LoadAvg", 0);
    if (!partitionable) {
        note_largest(machine, memory);
    }
    if (dynamic) {
        return; /* a part of what the partitionable slot has in all */
    }
    machine->cpus += ad_int_or(slot, "TotalSlotCpus", cpus);
    machine->gpus += ad_int_or(slot, "GPUs", 0);
    machine->total_mib += ad_real_or(slot, "TotalSlotMemory", memory);
    machine->free_cpus += free ? cpus : 0;
    machine->free_mib += free ? memory : 0;
}

static struct ad *machine_line(const struct machine *machine, const struct ad *first)
{
    struct ad *line = ad_create();
    struct strbuf text;
    strbuf_init(&text, 0);
    status_short_platform(first, &text);
    ad_set_string(line, "Platform", strbuf_text(&text));
    strbuf_clear(&text);
    strbuf_printf(&text, "%lld%s", (long long)machine->slots,
                  machine->static_slots > 0 ? "S" : " ");
    ad_set_string(line, "Slots", strbuf_text(&text));
    strbuf_clear(&text);
    strbuf_putc(&text, machine->state);
    strbuf_putc(&text, machine->activity);
    ad_set_string(line, "ST", strbuf_text(&text));
    ad_set_string(line, "Power", machine->power);
    strbuf_fini(&text);
    ad_set_string(line, "Machine", ad_string_or(first, "Machine", ad_string_or(first, "Name", "")));
    ad_set_int(line, "Cpus", machine->cpus);
    ad_set_int(line, "Gpus", machine->gpus);
    ad_set_real(line, "TotalGb", machine->total_mib / 1024);
    ad_set_int(line, "FreCpu", machine->free_cpus);
    ad_set_real(line, "FreeGb", machine->free_mib / 1024);
    ad_set_real(line, "CpuLoad", machine->cpus > 0 ? machine->load / (double)machine->cpus : 0);
    ad_set_real(line, "JobsMin", machine->starts / STARTS_WINDOW_MIN);
    ad_set_real(line, "MaxSlotGb", machine->largest_mib / 1024);
    return line;
}

/* ---- columns */

#define TEXT_CELL(name)                                                            \
    static void cell_##name(const struct ad *ad, const struct ad_context *context, \
                            struct strbuf *out)                                    \
    {                                                                              \
        (void)context;                                                             \
        table_plan_string(ad, #name, out);                                         \
    }
#define WHOLE_CELL(name)                                                           \
    static void cell_##name(const struct ad *ad, const struct ad_context *context, \
                            struct strbuf *out)                                    \
    {                                                                              \
        (void)context;                                                             \
        table_plan_int(ad, #name, out);                                            \
    }
#define FIXED_CELL(name)                                                           \
    static void cell_##name(const struct ad *ad, const struct ad_context *context, \
                            struct strbuf *out)                                    \
    {                                                                              \
        (void)context;                                                             \
        table_plan_fixed(ad_real_or(ad, #name, 0), 2, out);                        \
    }

TEXT_CELL(Machine)
TEXT_CELL(Platform)
TEXT_CELL(Slots)
TEXT_CELL(ST)
TEXT_CELL(Power)
WHOLE_CELL(Cpus)
WHOLE_CELL(Gpus)
WHOLE_CELL(FreCpu)
FIXED_CELL(TotalGb)
FIXED_CELL(FreeGb)
FIXED_CELL(CpuLoad)
FIXED_CELL(JobsMin)
FIXED_CELL(MaxSlotGb)

static const struct column COLUMNS[] = {
    {"Machine", TABLE_LEFT, 15, TABLE_LEFT, true, cell_Machine},
    {"Platform", TABLE_LEFT, 8, TABLE_LEFT, true, cell_Platform},
    {"Slots", TABLE_RIGHT, 5, TABLE_RIGHT, true, cell_Slots},
    {"Cpus", TABLE_RIGHT, 4, TABLE_RIGHT, true, cell_Cpus},
    {"Gpus", TABLE_RIGHT, 4, TABLE_RIGHT, true, cell_Gpus},
    {"TotalGb", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_TotalGb},
    {"FreCpu", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_FreCpu},
    {" FreeGb", TABLE_LEFT, 8, TABLE_RIGHT, true, cell_FreeGb},
    {"CpuLoad", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_CpuLoad},
    {"ST", TABLE_LEFT, 2, TABLE_LEFT, true, cell_ST},
    {"Jobs/Min", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_JobsMin},
    {"MaxSlotGb", TABLE_RIGHT, 9, TABLE_RIGHT, true, cell_MaxSlotGb},
    /* The last column is ours, and only there if some machine is not on: its state and what is free
     * look like those of a machine that is. */
    {"Power", TABLE_LEFT, 5, TABLE_LEFT, true, cell_Power},
};

void status_compact_print(const struct ad *const *ads, size_t count,
                          const struct ad_context *context, struct strbuf *out)
{
    struct ad **lines = mem_alloc((count + 1) * sizeof *lines);
    size_t line_count = 0;
    bool all_on = true;
    for (size_t i = 0; i < count;) {
        const struct ad *first = ads[i];
        const char *name = ad_string_or(first, "Machine", ad_string_or(first, "Name", ""));
        struct machine machine = {.power = POWER_ON};
        for (; i < count &&
               strcmp(name, ad_string_or(ads[i], "Machine", ad_string_or(ads[i], "Name", ""))) == 0;
             i++) {
            add_slot(&machine, ads[i]);
        }
        if (machine.slots == 0 && machine.whole != NULL) {
            note_state(&machine, machine.whole);
        }
        all_on = all_on && strcmp(machine.power, POWER_ON) == 0;
        lines[line_count++] = machine_line(&machine, first);
    }
    table_plan_print(COLUMNS, ARRAY_COUNT(COLUMNS) - (all_on ? 1 : 0), true,
                     (const struct ad *const *)lines, line_count, context, out);
    for (size_t i = 0; i < line_count; i++) {
        ad_destroy(lines[i]);
    }
    mem_free(lines);
}
