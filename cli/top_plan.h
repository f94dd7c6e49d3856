/* cli/top_plan.h - a frame of `roost top`: the pool's machines, batches, running jobs in so many
 * lines and columns; or the daemons of this host.
 *
 * Pure: facts in, text without escape sequences but colours out; cmd_top.c asks and draws.
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
    const char *pool;              /* its name, or where it is */
    const struct ad *const *slots; /* of the collector */
    size_t slot_count;
    const struct ad *const *batches; /* of the schedd */
    size_t batch_count;
    const struct ad *const *jobs; /* that run */
    size_t job_count;
    struct jobs_totals totals; /* of the queue */
    const char *trouble;       /* what could not be asked, and why; NULL: nothing */
};
/* What slots and jobs have to bring; NULL-terminated. */
extern const char *const top_slot_names[], *const top_job_names[];

/* terminal->rows lines at most (0: all), each at most terminal->columns (0: any) columns. */
void top_plan_frame(const struct top_facts *facts, const struct terminal *terminal,
                    const struct ad_context *context, struct strbuf *out);

struct top_daemon {
    char node[64], name[64];
    int64_t pid, memory_kib, threads;
    double cpu_percent; /* of one processor */
    double age_s;
};
void top_plan_daemons(const struct top_daemon *daemons, size_t count,
                      const struct terminal *terminal, const struct ad_context *context,
                      struct strbuf *out);

#endif
