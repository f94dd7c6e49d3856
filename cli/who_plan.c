/* cli/who_plan.c - see who_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/who_plan.h"

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/jobs/jobs_cells_plan.h"
#include "cli/table_plan.h"
#include "cli/terminal_plan.h"

static void put_program(const struct ad *job, struct ad *line)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, ad_string_or(job, "Cmd", ""));
    jobs_put_arguments(job, NULL, &text);
    ad_set_string(line, "Program", strbuf_text(&text));
    strbuf_fini(&text);
}

struct ad *who_plan_record(const struct ad *record)
{
    struct ad *line = ad_create();
    struct ad_value job, slot;
    (void)ad_eval_attr(record, NULL, "Job", NULL, &job);
    (void)ad_eval_attr(record, NULL, "Slot", NULL, &slot);
    ad_set_string(line, "Slot", ad_string_or(record, "SlotName", ""));
    ad_set_string(line, "JobId", ad_string_or(record, "JobId", ""));
    if (job.type == AD_TYPE_AD) {
        ad_set_string(line, "Owner",
                      ad_string_or(job.ad, "User", ad_string_or(job.ad, "Owner", "")));
        ad_set_int(line, "JobStart",
                   ad_int_or(job.ad, "JobCurrentStartDate", ad_int_or(job.ad, "ShadowBday", 0)));
        put_program(job.ad, line);
    }
    if (slot.type == AD_TYPE_AD) {
        ad_set_string(line, "Client",
                      ad_string_or(slot.ad, "ClientMachine",
                                   ad_string_or(slot.ad, "ScheddName", "")));
    }
    ad_value_fini(&job);
    ad_value_fini(&slot);
    return line;
}

struct ad *who_plan_slot(const struct ad *slot)
{
    struct ad *line = ad_create();
    ad_set_string(line, "Owner",
                  ad_string_or(slot, "RemoteOwner", ad_string_or(slot, "RemoteUser", "")));
    ad_set_string(line, "Client", ad_string_or(slot, "ClientMachine", ""));
    ad_set_string(line, "Slot", ad_string_or(slot, "Name", ""));
    ad_set_string(line, "JobId", ad_string_or(slot, "JobId", ""));
    ad_set_int(line, "JobStart", ad_int_or(slot, "JobStart", 0));
    return line;
}

#define TEXT_CELL(function, name)                                               \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        (void)context;                                                          \
        table_plan_string(ad, name, out);                                       \
    }
TEXT_CELL(cell_owner, "Owner")
TEXT_CELL(cell_client, "Client")
TEXT_CELL(cell_slot, "Slot")
TEXT_CELL(cell_job, "JobId")
TEXT_CELL(cell_program, "Program")

static void cell_runtime(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    int64_t since = ad_int_or(ad, "JobStart", 0);
    table_plan_duration(since > 0 ? context->now_s - since : 0, out);
}

static void cell_pid(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "JobPid", out);
}

static const struct column COLUMNS[] = {
    {"OWNER", TABLE_LEFT, 5, TABLE_LEFT, true, cell_owner},
    {"CLIENT", TABLE_LEFT, 6, TABLE_LEFT, true, cell_client},
    {"SLOT", TABLE_RIGHT, 4, TABLE_RIGHT, true, cell_slot},
    {"JOB", TABLE_LEFT, 3, TABLE_LEFT, true, cell_job},
    {"RUNTIME", TABLE_LEFT, 10, TABLE_RIGHT, true, cell_runtime},
    {"PID", TABLE_LEFT, 6, TABLE_LEFT, true, cell_pid},
    {"PROGRAM", TABLE_LEFT, 7, TABLE_LEFT, true, cell_program},
};

void who_plan_print(const struct ad *const *jobs, size_t count, const struct ad_context *context,
                    const struct terminal *terminal, struct strbuf *out)
{
    struct table *table = table_plan_begin(COLUMNS, ARRAY_COUNT(COLUMNS), context);
    for (size_t i = 0; i < count; i++) {
        table_plan_add(table, jobs[i]);
    }
    struct strbuf lines;
    strbuf_init(&lines, 0);
    table_plan_end(table, false, NULL, NULL, NULL, &lines);
    terminal_cut_lines(strbuf_text(&lines), terminal->columns, out);
    strbuf_fini(&lines);
}
