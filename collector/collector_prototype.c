/* collector/collector_prototype.c - see collector_prototype.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_prototype.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define AD_VERSION 2 /* the binary form whose values can be told apart without a look inside */

struct prototype {
    uint32_t number;
    bool used;
    unsigned char *bytes;
    size_t length;
};

struct prototypes {
    struct prototype all[COLLECTOR_PROTOTYPES_MAX];
    size_t count;
    size_t latest; /* the one that was packed against last */
    uint32_t last_number;
};

struct prototypes *prototypes_create(void)
{
    return mem_zalloc(sizeof(struct prototypes));
}

void prototypes_destroy(struct prototypes *prototypes)
{
    if (prototypes) {
        for (size_t i = 0; i < prototypes->count; i++) {
            mem_free(prototypes->all[i].bytes);
        }
        mem_free(prototypes);
    }
}

void prototypes_add(struct prototypes *prototypes, uint32_t number, const void *bytes,
                    size_t length)
{
    if (prototypes->count < COLLECTOR_PROTOTYPES_MAX) {
        prototypes->all[prototypes->count++] =
            (struct prototype){.number = number, .bytes = mem_dup(bytes, length), .length = length};
    }
    if (number > prototypes->last_number) {
        prototypes->last_number = number;
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct span {
    const unsigned char *at;
    const unsigned char *end;
};

static bool take_varint(struct span *in, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
        unsigned char byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static void put_varint(struct strbuf *out, uint64_t value)
{
    while (value >= 0x80) {
        strbuf_putc(out, (char)(unsigned char)(value | 0x80));
        value >>= 7;
    }
    strbuf_putc(out, (char)(unsigned char)value);
}

/* Reads one value, which has its length before it. */
static bool take_value(struct span *in, struct span *ret)
{
    uint64_t length;
    ret->at = in->at;
    if (!take_varint(in, &length) || length > (uint64_t)(in->end - in->at)) {
        return false;
    }
    in->at += length;
    ret->end = in->at;
    return true;
}

/* Skips what precedes the values: version, count, names. */
static bool take_head(struct span *in, uint64_t *count)
{
    uint64_t names;
    if (in->at == in->end || *in->at++ != AD_VERSION || !take_varint(in, count) ||
        !take_varint(in, &names) || names > (uint64_t)(in->end - in->at)) {
        return false;
    }
    in->at += names;
    return true;
}

static size_t size_of(const struct span *span)
{
    return (size_t)(span->end - span->at);
}

/* ---- packing --------------------------------------------------------------------------------- */

static void put_head(struct strbuf *out, uint32_t number)
{
    strbuf_putc(out, (char)(unsigned char)COLLECTOR_PACKED);
    for (unsigned i = 0; i < 4; i++) {
        strbuf_putc(out, (char)(unsigned char)(number >> 8 * i));
    }
}

/* Packs an ad against this prototype.  False: less than half would be saved; the caller removes
 * what was appended. */
static bool pack_against(const struct prototype *prototype, const void *bytes, size_t length,
                         struct strbuf *out)
{
    struct span ad = {bytes, (const unsigned char *)bytes + length};
    struct span like = {prototype->bytes, prototype->bytes + prototype->length};
    uint64_t count, run = 0;
    if (!take_head(&ad, &count)) {
        return false;
    }
    size_t head = (size_t)(ad.at - (const unsigned char *)bytes);
    size_t limit = out->length + (length - head) / 2;
    if (head > prototype->length || memcmp(bytes, prototype->bytes, head) != 0) {
        return false;
    }
    like.at += head;
    put_head(out, prototype->number);
    for (uint64_t i = 0; i < count; i++) {
        struct span own, theirs;
        if (!take_value(&ad, &own) || !take_value(&like, &theirs) || out->length > limit) {
            return false;
        }
        if (size_of(&own) == size_of(&theirs) && memcmp(own.at, theirs.at, size_of(&own)) == 0) {
            run++;
            continue;
        }
        put_varint(out, run);
        strbuf_append(out, own.at, size_of(&own));
        run = 0;
    }
    put_varint(out, run);
    return ad.at == ad.end && !out->failed;
}

static void take_back(struct strbuf *out, size_t length)
{
    if (out->data) {
        out->length = length;
        out->data[length] = '\0';
    }
}

bool prototypes_pack(struct prototypes *prototypes, const void *bytes, size_t length,
                     struct strbuf *out, bool *is_new, uint32_t *number)
{
    size_t before = out->length;
    *is_new = false;
    for (size_t i = 0; i < prototypes->count; i++) {
        size_t which = (prototypes->latest + i) % prototypes->count;
        struct prototype *prototype = &prototypes->all[which];
        if (pack_against(prototype, bytes, length, out)) {
            prototypes->latest = which;
            prototype->used = true;
            *number = prototype->number;
            return true;
        }
        take_back(out, before);
    }
    if (prototypes->count == COLLECTOR_PROTOTYPES_MAX) {
        return false;
    }
    prototypes_add(prototypes, prototypes->last_number + 1, bytes, length);
    struct prototype *own = &prototypes->all[prototypes->count - 1];
    if (!pack_against(own, bytes, length, out)) { /* a form that cannot be packed */
        take_back(out, before);
        mem_free(own->bytes);
        prototypes->count--;
        return false;
    }
    own->used = true;
    prototypes->latest = prototypes->count - 1;
    *is_new = true;
    *number = own->number;
    return true;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static struct prototype *find_prototype(struct prototypes *prototypes, uint32_t number)
{
    for (size_t i = 0; i < prototypes->count; i++) {
        if (prototypes->all[i].number == number) {
            return &prototypes->all[i];
        }
    }
    return NULL;
}

static int refuse_malformed(struct err *err)
{
    return err_set(err, -EBADMSG, "the stored ad is malformed");
}

int prototypes_unpack(struct prototypes *prototypes, const void *bytes, size_t length,
                      struct strbuf *out, struct err *err)
{
    struct span in = {bytes, (const unsigned char *)bytes + length};
    uint32_t number = 0;
    if (length < 5 || *in.at++ != COLLECTOR_PACKED) {
        return refuse_malformed(err);
    }
    for (unsigned i = 0; i < 4; i++) {
        number |= (uint32_t)*in.at++ << 8 * i;
    }
    struct prototype *prototype = find_prototype(prototypes, number);
    if (!prototype) {
        return err_set(err, -ENOENT,
                       "the stored ad needs prototype %u, which the store does not have", number);
    }
    prototype->used = true;
    struct span like = {prototype->bytes, prototype->bytes + prototype->length};
    uint64_t count, run;
    if (!take_head(&like, &count)) {
        return refuse_malformed(err);
    }
    strbuf_append(out, prototype->bytes, (size_t)(like.at - prototype->bytes));
    for (uint64_t i = 0; i <= count; i++) { /* once more than values: the rest may be none */
        const unsigned char *from = like.at;
        struct span value;
        if (!take_varint(&in, &run) || run > count - i) {
            return refuse_malformed(err);
        }
        for (; run > 0; run--, i++) {
            if (!take_value(&like, &value)) {
                return refuse_malformed(err);
            }
        }
        strbuf_append(out, from, (size_t)(like.at - from));
        if (i == count) {
            return in.at == in.end && !out->failed ? 0 : refuse_malformed(err);
        }
        if (!take_value(&like, &value) || !take_value(&in, &value)) {
            return refuse_malformed(err);
        }
        strbuf_append(out, value.at, size_of(&value));
    }
    return refuse_malformed(err);
}

void prototypes_drop_unused(struct prototypes *prototypes, void (*each)(void *arg, uint32_t number),
                            void *arg)
{
    size_t kept = 0;
    for (size_t i = 0; i < prototypes->count; i++) {
        struct prototype *prototype = &prototypes->all[i];
        if (prototype->used) {
            prototypes->all[kept++] = *prototype;
        } else {
            each(arg, prototype->number);
            mem_free(prototype->bytes);
        }
    }
    prototypes->count = kept;
    prototypes->latest = 0;
}
