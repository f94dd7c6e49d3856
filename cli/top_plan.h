/* cli/top_plan.h - one frame (screenful) of `roost top`: the pool's machines, batches and running
 * jobs, or the daemons of this host, in a given number of lines and columns.
 *
 * Pure: data in, text out, without escape sequences except colours; cmd_top.c asks and draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOP_PLAN_H
#define CLI_TOP_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/jobs/jobs_plan.h"

struct ad;
struct ad_context;
struct strbuf;
struct terminal;

struct top_facts {
    const char *pool;              /* the pool's name or address */
    const struct ad *const *slots; /* ads from the collector */
    size_t slot_count;
    const struct ad *const *batches; /* ads from the schedd */
    size_t batch_count;
    const struct ad *const *jobs; /* ads of running jobs */
    size_t job_count;
    struct jobs_totals totals; /* totals of the schedd's queue */
    const char *trouble;       /* which server could not be asked, and why; NULL: all answered */
};
/* The attributes of slots and jobs that the frame needs; NULL-terminated. */
extern const char *const top_slot_names[], *const top_job_names[];

/* Prints at most terminal->rows lines (0: all) of at most terminal->columns columns (0: no
 * limit). */
void top_plan_frame(const struct top_facts *facts, const struct terminal *terminal,
                    const struct ad_context *context, struct strbuf *out);

struct top_daemon {
    char node[64], name[64];
    int64_t pid, memory_kib, threads;
    double cpu_percent; /* percent of one CPU */
    double age_s;
};
void top_plan_daemons(const struct top_daemon *daemons, size_t count,
                      const struct terminal *terminal, const struct ad_context *context,
                      struct strbuf *out);

#endif
