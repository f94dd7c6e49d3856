/* base/stream/stream_buffer.h - the buffers of a stream: received bytes in one block, bytes to send
 * in a list of blocks (struct stream_chunk).
 *
 * Part of the real body of base/stream/stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_BUFFER_H
#define BASE_STREAM_STREAM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Received bytes: data[begin..end) are not consumed yet.  When zeroed the buffer is empty. */
struct stream_inbuf {
    unsigned char *data;
    size_t begin, end, capacity;
    /* true: data is the block that all streams of the loop share, see stream_inbuf_borrow() */
    bool borrowed;
};

/* size of the block that all streams of a loop share for input, bytes */
#define STREAM_BLOCK ((size_t)256 << 10)
/* Lets the stream use the block that all streams of the loop share as its input buffer, until
 * stream_inbuf_give_back(), which the caller calls in the same pass of the event loop.  Does
 * nothing if it has the block already, or more than a quarter of STREAM_BLOCK is not consumed.
 * *block: the shared block, or NULL before the block is made; NULL afterwards, while the stream has
 * it. */
void stream_inbuf_borrow(struct stream_inbuf *in, unsigned char **block);
/* Gives a borrowed block back to *block; bytes that were not consumed move to memory of the
 * stream's own.  Does nothing if no block was borrowed. */
void stream_inbuf_give_back(struct stream_inbuf *in, unsigned char **block);

/* Makes room for more input: afterwards at least the byte data[end] is free. max: most bytes that
 * the buffer will ever have to hold.  Returns false when there is no memory. */
bool stream_inbuf_reserve(struct stream_inbuf *in, size_t max);
/* Drops the first `length` bytes, or all if there are fewer.  Frees memory when little of it is
 * still used. */
void stream_inbuf_consume(struct stream_inbuf *in, size_t length);
void stream_inbuf_fini(struct stream_inbuf *in);

struct stream_chunk { /* one block of queued output: data[begin..end) is not sent yet */
    struct stream_chunk *next;
    size_t begin, end, capacity;
    unsigned char data[];
};

/* Queued output, a list of blocks: `first` is the oldest block and never empty.  When zeroed the
 * queue is empty. */
struct stream_outbuf {
    struct stream_chunk *first, *last;
    size_t length;
};

/* Queues a copy of data.  Returns false when there is no memory; part of data may then be
 * queued. */
bool stream_outbuf_append(struct stream_outbuf *out, const void *data, size_t length);
/* Drops the first `length` bytes of the oldest block, because they were sent. */
void stream_outbuf_sent(struct stream_outbuf *out, size_t length);
/* frees all queued output; the queue is empty afterwards */
void stream_outbuf_fini(struct stream_outbuf *out);

#endif
