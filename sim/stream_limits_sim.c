/* sim/stream_limits_sim.c - the limits of base/stream/stream.h, which the simulated network does
 * not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream.h"

/* Does nothing: the simulator does not limit memory, so the largest message always fits. */
void stream_set_input_max(struct stream *stream, size_t bytes)
{
    (void)stream, (void)bytes;
}

/* Does nothing: all simulated clients belong to the pool, so none is a stranger. */
void stream_known(struct stream *stream)
{
    (void)stream;
}

/* In the simulated network nobody waits for a handshake. */
bool stream_must_wait(const struct stream *stream)
{
    (void)stream;
    return false;
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
