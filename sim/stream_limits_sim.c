/* sim/stream_limits_sim.c - the limits of base/stream/stream.h, which the simulated network does
 * not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream.h"

/* Memory is not the simulator's subject: a reader has room for the largest always. */
void stream_set_input_max(struct stream *stream, size_t bytes)
{
    (void)stream, (void)bytes;
}

/* Nor are strangers: who dials here is one of the pool. */
void stream_known(struct stream *stream)
{
    (void)stream;
}

void stream_get_strangers(struct loop *loop, struct stream_strangers *ret)
{
    (void)loop;
    *ret = (struct stream_strangers){.now = 0};
}

void stream_set_strangers_max(struct loop *loop, uint32_t max)
{
    (void)loop, (void)max;
}
