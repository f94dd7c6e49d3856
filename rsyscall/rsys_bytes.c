/* rsyscall/rsys_bytes.c - encodes and decodes numbers, texts and attributes of messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/rsys_bytes.h"

#include <errno.h>
#include <string.h>

void rsys_fail(struct rsys_writer *out, int code)
{
    if (out->code == 0) {
        out->code = code;
    }
}

void rsys_put_number(struct rsys_writer *out, uint64_t value, size_t bytes)
{
    if (out->size - out->at < bytes) {
        rsys_fail(out, -EMSGSIZE);
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        out->data[out->at++] = (unsigned char)(value >> (8 * i));
    }
}

void rsys_put_u16(struct rsys_writer *out, uint16_t value)
{
    rsys_put_number(out, value, 2);
}

void rsys_put_u32(struct rsys_writer *out, uint32_t value)
{
    rsys_put_number(out, value, 4);
}

void rsys_put_u64(struct rsys_writer *out, uint64_t value)
{
    rsys_put_number(out, value, 8);
}

/* Encodes a file offset; it must be one that the kernel accepts as off_t. */
void rsys_put_offset(struct rsys_writer *out, uint64_t value)
{
    if (value > INT64_MAX) {
        rsys_fail(out, -EINVAL);
    }
    rsys_put_u64(out, value);
}

void rsys_put_bytes(struct rsys_writer *out, const void *data, size_t length)
{
    if (out->size - out->at < length) {
        rsys_fail(out, -EMSGSIZE);
    } else if (length > 0) {
        memcpy(out->data + out->at, data, length);
        out->at += length;
    }
}

void rsys_put_text(struct rsys_writer *out, const struct rsys_text *text, size_t max)
{
    if (text->length > max || (text->length > 0 && memchr(text->data, 0, text->length) != NULL)) {
        rsys_fail(out, -EINVAL);
        return;
    }
    rsys_put_u16(out, text->length);
    rsys_put_bytes(out, text->data, text->length);
    rsys_put_number(out, 0, 1);
}

uint64_t rsys_take_number(struct rsys_reader *in, size_t bytes)
{
    if (in->bad || in->size - in->at < bytes) {
        in->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)in->data[in->at++] << (8 * i);
    }
    return value;
}

uint16_t rsys_take_u16(struct rsys_reader *in)
{
    return (uint16_t)rsys_take_number(in, 2);
}

uint32_t rsys_take_u32(struct rsys_reader *in)
{
    return (uint32_t)rsys_take_number(in, 4);
}

uint64_t rsys_take_u64(struct rsys_reader *in)
{
    return rsys_take_number(in, 8);
}

uint64_t rsys_take_offset(struct rsys_reader *in)
{
    uint64_t value = rsys_take_u64(in);
    if (value > INT64_MAX) {
        in->bad = true;
    }
    return value;
}

const unsigned char *rsys_take_bytes(struct rsys_reader *in, size_t length)
{
    if (in->bad || in->size - in->at < length) {
        in->bad = true;
        return NULL;
    }
    const unsigned char *data = in->data + in->at;
    in->at += length;
    return data;
}

void rsys_take_text(struct rsys_reader *in, struct rsys_text *ret, size_t max)
{
    uint16_t length = rsys_take_u16(in);
    const unsigned char *data = rsys_take_bytes(in, (size_t)length + 1);
    if (data == NULL || length > max || data[length] != 0 ||
        (length > 0 && memchr(data, 0, length) != NULL)) {
        in->bad = true;
        return;
    }
    ret->data = (const char *)data;
    ret->length = length;
}

static void rsys_put_time(struct rsys_writer *out, const struct rsys_time *time)
{
    rsys_put_u64(out, (uint64_t)time->s);
    rsys_put_u32(out, time->ns);
}

static void rsys_take_time(struct rsys_reader *in, struct rsys_time *ret)
{
    ret->s = (int64_t)rsys_take_u64(in);
    ret->ns = rsys_take_u32(in);
    if (ret->ns >= 1000000000) {
        in->bad = true;
    }
}

void rsys_put_attr(struct rsys_writer *out, const struct rsys_attr *attr)
{
    rsys_put_u32(out, attr->mode);
    rsys_put_u32(out, attr->nlink);
    rsys_put_u32(out, attr->uid);
    rsys_put_u32(out, attr->gid);
    rsys_put_u32(out, attr->blksize);
    rsys_put_u32(out, attr->rdev_major);
    rsys_put_u32(out, attr->rdev_minor);
    rsys_put_u64(out, attr->dev);
    rsys_put_u64(out, attr->ino);
    rsys_put_offset(out, attr->size);
    rsys_put_u64(out, attr->blocks);
    rsys_put_time(out, &attr->atime);
    rsys_put_time(out, &attr->mtime);
    rsys_put_time(out, &attr->ctime);
}

void rsys_take_attr(struct rsys_reader *in, struct rsys_attr *ret)
{
    ret->mode = rsys_take_u32(in);
    ret->nlink = rsys_take_u32(in);
    ret->uid = rsys_take_u32(in);
    ret->gid = rsys_take_u32(in);
    ret->blksize = rsys_take_u32(in);
    ret->rdev_major = rsys_take_u32(in);
    ret->rdev_minor = rsys_take_u32(in);
    ret->dev = rsys_take_u64(in);
    ret->ino = rsys_take_u64(in);
    ret->size = rsys_take_offset(in);
    ret->blocks = rsys_take_u64(in);
    rsys_take_time(in, &ret->atime);
    rsys_take_time(in, &ret->mtime);
    rsys_take_time(in, &ret->ctime);
}
