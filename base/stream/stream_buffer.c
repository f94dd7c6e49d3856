/* base/stream/stream_buffer.c - the memory of a stream.
 *
 * Design note: a decoder wants its frame in one piece, so input is one block that doubles; it is
 * given back when all is read, because ten thousand quiet streams must cost little; during a turn
 * it is a large one that all streams of a loop share.  Output may be a quarter of a GiB and is
 * never looked at again, so it is a list of chunks, into whose last one small writes are packed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_buffer.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define INPUT_BLOCK ((size_t)4 << 10)  /* the smallest; what a quiet stream may keep */
#define INPUT_LARGE ((size_t)64 << 10) /* of which no more is kept than a quarter is used */
#define CHUNK_MIN   ((size_t)4 << 10)
#define CHUNK_MAX   ((size_t)1 << 20)

bool stream_inbuf_reserve(struct stream_inbuf *in, size_t max)
{
    size_t length = in->end - in->begin;
    if (in->capacity - in->end >= INPUT_BLOCK / 2) {
        return true;
    }
    if (in->begin >= INPUT_BLOCK / 2 && in->begin >= length) { /* no more is moved than was read */
        memmove(in->data, in->data + in->begin, length);
        in->begin = 0;
        in->end = length;
        return true;
    }
    size_t capacity = in->capacity > 0 ? 2 * in->capacity : INPUT_BLOCK;
    if (length < max && capacity > in->begin + max + INPUT_BLOCK) {
        capacity = in->begin + max + INPUT_BLOCK; /* more than that is never wanted */
    }
    unsigned char *grown = mem_try_realloc(in->data, capacity);
    if (grown == NULL) {
        return false;
    }
    in->data = grown;
    in->capacity = capacity;
    in->borrowed = false; /* another one will be made */
    return true;
}

void stream_inbuf_borrow(struct stream_inbuf *in, unsigned char **block)
{
    size_t length = in->end - in->begin;
    if (in->borrowed || length > STREAM_BLOCK / 4) {
        return;
    }
    unsigned char *data = *block != NULL ? *block : mem_alloc(STREAM_BLOCK);
    *block = NULL;
    if (length > 0) {
        memcpy(data, in->data + in->begin, length);
    }
    mem_free(in->data);
    *in = (struct stream_inbuf){.data = data,
                                .end = length,
                                .capacity = STREAM_BLOCK,
                                .borrowed = true};
}

void stream_inbuf_give_back(struct stream_inbuf *in, unsigned char **block)
{
    if (!in->borrowed) {
        return;
    }
    size_t length = in->end - in->begin;
    struct stream_inbuf own = {0};
    if (length > 0) {
        own.capacity = length > INPUT_BLOCK ? length : INPUT_BLOCK;
        own.data = mem_alloc(own.capacity);
        own.end = length;
        memcpy(own.data, in->data + in->begin, length);
    }
    mem_free(*block);
    *block = in->data;
    *in = own;
}

/* Moves the unread rest to memory of its size; each byte is moved only a few times. */
static void inbuf_shrink(struct stream_inbuf *in)
{
    size_t length = in->end - in->begin;
    size_t capacity = length > INPUT_BLOCK ? length : INPUT_BLOCK;
    unsigned char *data = mem_try_alloc(capacity);
    if (data != NULL) {
        memcpy(data, in->data + in->begin, length);
        mem_free(in->data);
        *in = (struct stream_inbuf){.data = data, .end = length, .capacity = capacity};
    }
}

void stream_inbuf_consume(struct stream_inbuf *in, size_t length)
{
    CHECK(length <= in->end - in->begin);
    in->begin += length;
    if (in->begin == in->end) {
        in->begin = in->end = 0;
        if (in->capacity > INPUT_BLOCK && !in->borrowed) {
            stream_inbuf_fini(in);
        }
    } else if (in->capacity > INPUT_LARGE && in->end - in->begin < in->capacity / 4 &&
               !in->borrowed) {
        inbuf_shrink(in);
    }
}

void stream_inbuf_fini(struct stream_inbuf *in)
{
    mem_free(in->data);
    *in = (struct stream_inbuf){0};
}

static struct stream_chunk *chunk_add(struct stream_outbuf *out, size_t length)
{
    size_t capacity = length < CHUNK_MIN ? CHUNK_MIN : length < CHUNK_MAX ? length : CHUNK_MAX;
    struct stream_chunk *chunk = mem_try_alloc(sizeof(*chunk) + capacity);
    if (chunk != NULL) {
        *chunk = (struct stream_chunk){.capacity = capacity};
        if (out->last != NULL) {
            out->last->next = chunk;
        } else {
            out->first = chunk;
        }
        out->last = chunk;
    }
    return chunk;
}

bool stream_outbuf_append(struct stream_outbuf *out, const void *data, size_t length)
{
    const unsigned char *from = data;
    while (length > 0) {
        struct stream_chunk *last = out->last;
        if (last == NULL || last->end == last->capacity) {
            last = chunk_add(out, length);
            if (last == NULL) {
                return false;
            }
        }
        size_t room = last->capacity - last->end;
        size_t part = length < room ? length : room;
        memcpy(last->data + last->end, from, part);
        last->end += part;
        from += part;
        length -= part;
        out->length += part;
    }
    return true;
}

void stream_outbuf_sent(struct stream_outbuf *out, size_t length)
{
    struct stream_chunk *first = out->first;
    CHECK(first != NULL && length <= first->end - first->begin);
    first->begin += length;
    out->length -= length;
    if (first->begin == first->end) {
        out->first = first->next;
        if (out->first == NULL) {
            out->last = NULL;
        }
        mem_free(first);
    }
}

void stream_outbuf_fini(struct stream_outbuf *out)
{
    struct stream_chunk *next;
    for (struct stream_chunk *each = out->first; each != NULL; each = next) {
        next = each->next;
        mem_free(each);
    }
    *out = (struct stream_outbuf){0};
}
