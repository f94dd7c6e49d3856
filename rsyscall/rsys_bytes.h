/* rsyscall/rsys_bytes.h - encodes and decodes numbers, texts and attributes of messages.
 *
 * Part of the codec (rsys_codec.c).  The first error is kept in the writer or reader, and the
 * caller checks it once, at the end; after an error, reads return 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_RSYS_BYTES_H
#define RSYSCALL_RSYS_BYTES_H

#include "rsyscall/rsys.h"

struct rsys_writer {
    unsigned char *data;
    size_t size, at;
    int code; /* the first error, -errno; 0: none */
};

struct rsys_reader {
    const unsigned char *data;
    size_t size, at;
    bool bad;
};

void rsys_fail(struct rsys_writer *out, int code);
void rsys_put_number(struct rsys_writer *out, uint64_t value, size_t bytes);
void rsys_put_u16(struct rsys_writer *out, uint16_t value);
void rsys_put_u32(struct rsys_writer *out, uint32_t value);
void rsys_put_u64(struct rsys_writer *out, uint64_t value);
void rsys_put_offset(struct rsys_writer *out, uint64_t value);
void rsys_put_bytes(struct rsys_writer *out, const void *data, size_t length);
void rsys_put_text(struct rsys_writer *out, const struct rsys_text *text, size_t max);
uint64_t rsys_take_number(struct rsys_reader *in, size_t bytes);
uint16_t rsys_take_u16(struct rsys_reader *in);
uint32_t rsys_take_u32(struct rsys_reader *in);
uint64_t rsys_take_u64(struct rsys_reader *in);
uint64_t rsys_take_offset(struct rsys_reader *in);
const unsigned char *rsys_take_bytes(struct rsys_reader *in, size_t length);
void rsys_take_text(struct rsys_reader *in, struct rsys_text *ret, size_t max);
void rsys_put_attr(struct rsys_writer *out, const struct rsys_attr *attr);
void rsys_take_attr(struct rsys_reader *in, struct rsys_attr *ret);

#endif
