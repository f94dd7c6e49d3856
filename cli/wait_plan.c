/* cli/wait_plan.c - see wait_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/wait_plan.h"

#include "base/strbuf.h"
#include "classad/ad.h"

enum { REMOVED = 3, COMPLETED = 4 }; /* JobStatus */

bool wait_plan_is_over(const struct ad *job)
{
    int64_t status = ad_int_or(job, "JobStatus", 0);
    return status == REMOVED || status == COMPLETED;
}

void wait_plan_outcome(const char *id, const struct ad *job, struct strbuf *out)
{
    int64_t number;
    strbuf_printf(out, "Job %s ", id);
    if (ad_int_or(job, "JobStatus", 0) != COMPLETED) {
        strbuf_puts(out, "was removed");
    } else if (ad_bool_or(job, "ExitBySignal", false) &&
               ad_get_int(job, "ExitSignal", &number) == 0) {
        strbuf_printf(out, "completed, ended by signal %lld", (long long)number);
    } else if (ad_get_int(job, "ExitCode", &number) == 0) {
        strbuf_printf(out, "completed, exit status %lld", (long long)number);
    } else {
        strbuf_puts(out, "completed");
    }
}
