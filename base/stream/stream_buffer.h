/* base/stream/stream_buffer.h - the buffers of a stream: input in one piece, output in chunks.
 *
 * Part of the real body of base/stream/stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_BUFFER_H
#define BASE_STREAM_STREAM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Received bytes: data[begin..end) are not consumed yet.  When zeroed it is empty. */
struct stream_inbuf {
    unsigned char *data;
    size_t begin, end, capacity;
    bool borrowed; /* data is the block of the loop, see stream_inbuf_borrow() */
};

#define STREAM_BLOCK ((size_t)256 << 10) /* size of that block, bytes */
/* Uses, for one turn of the loop, a block that all streams of the loop share as the buffer. *block
 * is the block, or NULL while somebody has it or before it is made. */
void stream_inbuf_borrow(struct stream_inbuf *in, unsigned char **block);
/* Gives the block back if it was borrowed; bytes that were not consumed move to memory of their
 * own. */
void stream_inbuf_give_back(struct stream_inbuf *in, unsigned char **block);

/* Makes room for more behind the bytes, so that capacity - end > 0. max: there will never be more
 * bytes than this.  False: no memory. */
bool stream_inbuf_reserve(struct stream_inbuf *in, size_t max);
/* Drops the first `length` bytes, at most all.  Frees memory of which little is still used. */
void stream_inbuf_consume(struct stream_inbuf *in, size_t length);
void stream_inbuf_fini(struct stream_inbuf *in);

struct stream_chunk { /* a piece of queued output: data[begin..end) */
    struct stream_chunk *next;
    size_t begin, end, capacity;
    unsigned char data[];
};

/* Queued output. first is the oldest chunk and never empty.  When zeroed the queue is empty. */
struct stream_outbuf {
    struct stream_chunk *first, *last;
    size_t length;
};

/* Queues a copy.  False: no memory, and an unknown part was queued. */
bool stream_outbuf_append(struct stream_outbuf *out, const void *data, size_t length);
/* Drops bytes of the first chunk. */
void stream_outbuf_sent(struct stream_outbuf *out, size_t length);
void stream_outbuf_fini(struct stream_outbuf *out); /* frees all; empty afterwards */

#endif
