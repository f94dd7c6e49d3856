/* sim/log_sim.c - the sinks of base/log.h in the simulator: every line goes into the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/log.h"

#include "sim/sim_private.h"

static void write_line(void *context, const char *line, size_t length)
{
    struct sim *sim = sim_mem_running();
    (void)context;
    if (sim != NULL && length > 0) {
        sim_trace(sim, sim->current, "%.*s", (int)length - 1, line);
    }
}

struct log_sink log_sink_stderr(void)
{
    return (struct log_sink){.write = write_line};
}

int log_sink_file(const char *path, uint64_t max_bytes, unsigned keep, struct log_sink *ret,
                  struct err *err)
{
    (void)path;
    (void)max_bytes;
    (void)keep;
    (void)err;
    *ret = log_sink_stderr();
    return 0;
}
