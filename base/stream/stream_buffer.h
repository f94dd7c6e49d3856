/* base/stream/stream_buffer.h - the memory of a stream: input in one piece, output in chunks.
 *
 * Part of the real body of base/stream/stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_BUFFER_H
#define BASE_STREAM_STREAM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Unread bytes are data[begin..end); zero-initialized it is empty. */
struct stream_inbuf {
    unsigned char *data;
    size_t begin, end, capacity;
    bool borrowed; /* data is the block */
};

/* For the length of a turn a stream reads into a block that all streams of a loop share, which is
 * at *block when nobody has it, or NULL: then it is made when it is wanted. */
#define STREAM_BLOCK ((size_t)256 << 10)
void stream_inbuf_borrow(struct stream_inbuf *in, unsigned char **block);
/* Gives it back if it was lent; what is unread gets memory of its own. */
void stream_inbuf_give_back(struct stream_inbuf *in, unsigned char **block);

/* Makes room for more behind the unread bytes, of which there will not be more than max:
 * capacity - end > 0.  False: no memory. */
bool stream_inbuf_reserve(struct stream_inbuf *in, size_t max);
/* At most what is unread.  Memory of which little is still in use is given back. */
void stream_inbuf_consume(struct stream_inbuf *in, size_t length);
void stream_inbuf_fini(struct stream_inbuf *in);

struct stream_chunk {
    struct stream_chunk *next;
    size_t begin, end, capacity;
    unsigned char data[];
};

/* first is the oldest chunk, never empty; zero-initialized the queue is empty. */
struct stream_outbuf {
    struct stream_chunk *first, *last;
    size_t length;
};

/* Copies.  False: no memory, and an unknown part is queued. */
bool stream_outbuf_append(struct stream_outbuf *out, const void *data, size_t length);
void stream_outbuf_sent(struct stream_outbuf *out, size_t length); /* of the first chunk */
void stream_outbuf_fini(struct stream_outbuf *out);                /* empty afterwards */

#endif
