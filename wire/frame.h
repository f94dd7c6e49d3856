/* wire/frame.h - frames and message bodies as bytes: pure coding, no connection.
 *
 * The layout is that of docs/protocol/wire.md §2 and §3.  Decoders take their input as hostile:
 * every length is checked against what is left before it is used, and nothing is allocated for a
 * length that has only been claimed.  Views (struct frame, struct frame_body) point into the
 * caller's bytes.  Encoders append to a strbuf whose own limit bounds the frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_pool;
struct err;
struct strbuf;
struct wire_body;
struct wire_secret;

#define FRAME_HEADER_BYTES 16
/* bytes of a frame before its sender has proved who it is; a greeting with a token of 4 KiB, a key
 * and a signature takes 6 KiB */
#define FRAME_GREETING_MAX ((size_t)8 << 10)
#define FRAME_TEXT_MAX     1024 /* bytes of the text of a reply; longer ones are cut */
#define FRAME_FROM_MAX     512  /* bytes of a caller's address */

enum frame_type {
    FRAME_HELLO = 1,
    FRAME_WELCOME = 2,
    FRAME_REFUSED = 3,
    FRAME_REQUEST = 4,
    FRAME_REPLY = 5,
    FRAME_CANCEL = 6,
    FRAME_WINDOW = 7,
    FRAME_PING = 8,
    FRAME_PONG = 9,
    FRAME_GOODBYE = 10,
};

enum {
    FRAME_FLAG_RELAYED = 1, /* of REQUEST */
    FRAME_FLAG_MORE = 1,    /* of REPLY */
    FRAME_FLAG_QUIET = 2,   /* of REQUEST, and of the REPLY to one */
    FRAME_FLAG_SIGNED = 4,  /* of REPLY: by who was asked through a hub */
};

/* One frame, decoded down to the body.  Which members mean something depends on the type; the
 * others are zero. */
struct frame {
    enum frame_type type;
    uint8_t flags;
    uint16_t verb;
    uint64_t request;
    size_t payload_length;         /* as it counts for the window */
    uint16_t version, version_min; /* HELLO, WELCOME, REFUSED */
    uint32_t deadline_ms;          /* REQUEST */
    const char *token;             /* relayed REQUEST, signed REPLY; not terminated */
    size_t token_length;
    const char *instance; /* relayed REQUEST: of the receiver; not terminated */
    size_t instance_length;
    uint64_t number;      /* relayed REQUEST */
    const uint8_t *proof; /* relayed REQUEST, signed REPLY: PROOF_BYTES; else NULL */
    const char *from;     /* relayed REQUEST; not terminated */
    size_t from_length;
    int32_t status;   /* REPLY, GOODBYE; never positive */
    const char *text; /* REPLY, GOODBYE; not terminated */
    size_t text_length;
    uint32_t window;  /* WINDOW */
    uint64_t opaque;  /* PING, PONG */
    const void *body; /* HELLO, WELCOME, REFUSED, REQUEST, REPLY */
    size_t body_length;
};

/* Looks at the front of data.  Returns 1 and fills frame when a whole frame is there, its bytes
 * being *size; 0 when more bytes are needed, *size being the whole frame's size if the length is
 * there already, else 0; -EPROTO for bytes that are no frame of at most frame_max bytes, with err
 * saying what is wrong. */
int frame_decode(const void *data, size_t length, size_t frame_max, struct frame *frame,
                 size_t *size, struct err *err);

/* A body, split: where its parts lie. */
struct frame_body {
    const void *args; /* binary ad; NULL: none */
    size_t args_length;
    const void *ads; /* u32 length and ad, ad_count times */
    size_t ads_length;
    uint32_t ad_count;
    const void *blob;
    size_t blob_length;
    const void *secrets; /* as they come, secret_count of them; judged */
    size_t secrets_length;
    uint32_t secret_count;
};
/* -EBADMSG: not a body. */
int frame_body_split(const void *data, size_t length, struct frame_body *ret, struct err *err);

/* Ads of a body that are not decoded, to be taken one after the other. */
struct frame_ads {
    const void *at; /* u32 length and ad, count times */
    size_t length;
    uint32_t count;
};
/* The next one's bytes, or NULL at the end. */
const void *frame_ads_next(struct frame_ads *ads, size_t *length);

/* A body with its ads decoded.  args, ads and secrets are owned, blob is borrowed from the bytes.
 */
struct frame_message {
    struct ad *args; /* NULL: none */
    struct ad **ads;
    size_t ad_count;
    const void *blob;
    size_t blob_length;
    struct wire_secret *secrets; /* ads in order, args last */
    size_t secret_count;
    size_t secrets_bytes; /* of that block, which is wiped */
};
/* -EBADMSG (which ad, which byte) or -ENOMEM; *ret is then empty. */
int frame_message_decode(const void *data, size_t length, struct frame_message *ret,
                         struct err *err);
/* The same, with the ads in that pool. */
int frame_message_decode_in(struct ad_pool *pool, const void *data, size_t length,
                            struct frame_message *ret, struct err *err);
/* The same without the ads: *ads is where they lie, ad_count stays 0.  args are of the pool (NULL:
 * none): those of a verb that is called again and again have the same names each time. */
int frame_message_decode_args(const void *data, size_t length, struct ad_pool *pool,
                              struct frame_message *ret, struct frame_ads *ads, struct err *err);
void frame_message_fini(struct frame_message *message);

/* ---- encoding: begin, the fields of the type, a body where it has one, end ---- */

/* Appends the header and returns where the frame begins. */
size_t frame_begin(struct strbuf *out, enum frame_type type, uint8_t flags, uint16_t verb,
                   uint64_t request);
/* Fills in the length; blob_follows bytes will be appended by the caller elsewhere.  0, or, out
 * being as it was before frame_begin(): -EMSGSIZE when the frame is above frame_max. */
int frame_end(struct strbuf *out, size_t begin, size_t blob_follows, size_t frame_max);
void frame_put_u16(struct strbuf *out, uint16_t value);
void frame_put_u32(struct strbuf *out, uint32_t value);
void frame_put_u64(struct strbuf *out, uint64_t value);
void frame_put_text16(struct strbuf *out, const char *text, size_t length); /* cut at 65535 */
/* body may be NULL: empty. */
void frame_put_body(struct strbuf *out, const struct wire_body *body);
/* The same, but the blob's bytes are left out where they are the end of the body: returns how many
 * of them the caller sends after it. */
size_t frame_put_body_head(struct strbuf *out, const struct wire_body *body);

#endif
