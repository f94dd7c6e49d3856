/* wire/frame.h - encodes and decodes frames and message bodies: bytes only, no connection.
 *
 * The layout is in docs/protocol/wire.md §2 and §3.  Decoders treat their input as hostile: every
 * length is checked against the bytes that are left before it is used, and no memory is allocated
 * for a length that is only claimed.  struct frame and struct frame_body are views: they point into
 * the caller's bytes.  Encoders append to a strbuf, whose own limit bounds the frame.
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
/* Maximum size of a frame before its sender has proved who it is.  A greeting with a token of 4
 * KiB, a key and a signature takes 6 KiB. */
#define FRAME_GREETING_MAX ((size_t)8 << 10)
/* most bytes of a reply's text, with the terminating zero; a longer text is cut */
#define FRAME_TEXT_MAX 1024
/* most bytes of a caller's address, with the terminating zero */
#define FRAME_FROM_MAX 512

/* What a frame is for; the numbers are those of the protocol and never change. */
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
    FRAME_FLAG_RELAYED = 1, /* REQUEST that came through a hub */
    FRAME_FLAG_MORE = 1,    /* REPLY: another part follows */
    /* REQUEST: answer only if there is something to report.  REPLY: answers a request
     * that has this flag. */
    FRAME_FLAG_QUIET = 2,
    FRAME_FLAG_SIGNED = 4, /* REPLY signed by the daemon that was asked through a hub */
};

/* A frame, decoded except for its body.  The type says which members have a meaning; the others are
 * zero. */
struct frame {
    enum frame_type type;
    uint8_t flags;
    uint16_t verb;
    uint64_t request;
    /* bytes of the frame after its header; in a part of a reply, they count against the window */
    size_t payload_length;
    /* of HELLO, WELCOME, REFUSED: the sender's version of the protocol, and the oldest
     * version that it accepts */
    uint16_t version, version_min;
    uint32_t deadline_ms; /* of a REQUEST: milliseconds within which the answer must come */
    /* of a relayed REQUEST: the caller's token; of a signed REPLY: the token of the daemon that
     * answers; not zero-terminated */
    const char *token;
    size_t token_length;
    const char *instance; /* relayed REQUEST: instance id of the receiver; not zero-terminated */
    size_t instance_length;
    uint64_t number; /* of a relayed REQUEST: number that the caller gave the request */
    /* of a relayed REQUEST, signed REPLY: the signature, PROOF_BYTES; NULL: none */
    const uint8_t *proof;
    const char *from; /* relayed REQUEST: address of the caller; not zero-terminated */
    size_t from_length;
    int32_t status;   /* REPLY, GOODBYE: 0 or a negative errno */
    const char *text; /* of a REPLY, GOODBYE: reason in one line; not zero-terminated */
    size_t text_length;
    uint32_t window;  /* of a WINDOW: further bytes that the sender of parts may send */
    uint64_t opaque;  /* of a PING: any number; of a PONG: the number in the PING that it answers */
    const void *body; /* of HELLO, WELCOME, REFUSED, REQUEST, REPLY: the body, still encoded */
    size_t body_length;
};

/* Decodes the frame at the start of data.  Returns 1 when a whole frame is there: fills *frame, and
 * *size with its number of bytes.  Returns 0 when more bytes are needed; *size is then the frame's
 * size if its length field is there already, else 0.  Returns -EPROTO, with the reason in err, when
 * the bytes are not a frame of at most frame_max bytes. */
int frame_decode(const void *data, size_t length, size_t frame_max, struct frame *frame,
                 size_t *size, struct err *err);

/* A body, split into its parts, which point into the caller's bytes. */
struct frame_body {
    const void *args; /* binary ad of the arguments; NULL: none */
    size_t args_length;
    const void *ads; /* ad_count times: u32 length, then a binary ad */
    size_t ads_length;
    uint32_t ad_count;
    const void *blob;
    size_t blob_length;
    const void *secrets; /* secret_count encoded secrets, checked for form */
    size_t secrets_length;
    uint32_t secret_count;
};
/* Splits a body into its parts, without decoding the ads.  Returns 0, or -EBADMSG, with the reason
 * in err, when data is not a well-formed body. */
int frame_body_split(const void *data, size_t length, struct frame_body *ret, struct err *err);

/* The ads of a body, still encoded; frame_ads_next() takes one after the other. */
struct frame_ads {
    const void *at; /* the ads not yet taken: of each a u32 length, then the binary ad */
    size_t length;
    uint32_t count;
};
/* Takes the next ad: returns its bytes and sets *length.  NULL when none is left. */
const void *frame_ads_next(struct frame_ads *ads, size_t *length);

/* A body with its ads decoded.  The message owns args, ads and secrets; blob points into the
 * caller's bytes. */
struct frame_message {
    struct ad *args; /* arguments; NULL: none */
    struct ad **ads;
    size_t ad_count;
    const void *blob;
    size_t blob_length;
    /* the secrets of the ads, in order of the ads, then the secrets of args */
    struct wire_secret *secrets;
    size_t secret_count;
    size_t secrets_bytes; /* size of the secrets' memory block, which is wiped when freed */
};
/* Decodes a body.  Returns 0; or -EBADMSG (err says which ad and byte) or -ENOMEM, and *ret is then
 * empty. */
int frame_message_decode(const void *data, size_t length, struct frame_message *ret,
                         struct err *err);
/* Like frame_message_decode(), but the ads are made in pool (classad/ad_pool.h). */
int frame_message_decode_in(struct ad_pool *pool, const void *data, size_t length,
                            struct frame_message *ret, struct err *err);
/* Like frame_message_decode(), but leaves the ads encoded: *ads tells where they are,
 * ret->ad_count is 0.  args is made in pool (classad/ad_pool.h; NULL: in no pool), because
 * repeated requests of one verb have the same attribute names. */
int frame_message_decode_args(const void *data, size_t length, struct ad_pool *pool,
                              struct frame_message *ret, struct frame_ads *ads, struct err *err);
/* Frees what the message owns. */
void frame_message_fini(struct frame_message *message);

/* ---- encoding: frame_begin(), the fields of the frame's type, perhaps a body, frame_end() ---- */

/* Appends the header of a frame.  Returns the position in out where the frame begins, for
 * frame_end(). */
size_t frame_begin(struct strbuf *out, enum frame_type type, uint8_t flags, uint16_t verb,
                   uint64_t request);
/* Fills in the length of the frame that begins at `begin`.  blob_follows: bytes of the frame
 * that the caller will send from another buffer, after those in out.  Returns 0; or -EMSGSIZE
 * when the frame would exceed frame_max, and out is as it was before frame_begin(). */
int frame_end(struct strbuf *out, size_t begin, size_t blob_follows, size_t frame_max);
void frame_put_u16(struct strbuf *out, uint16_t value);
void frame_put_u32(struct strbuf *out, uint32_t value);
void frame_put_u64(struct strbuf *out, uint64_t value);
/* Appends a u16 length and the text, cut at 65535 bytes. */
void frame_put_text16(struct strbuf *out, const char *text, size_t length);
/* Appends a body; NULL: an empty one. */
void frame_put_body(struct strbuf *out, const struct wire_body *body);
/* Like frame_put_body(), but leaves out the blob's bytes if they are the last of the body.
 * Returns how many bytes of the blob the caller has to send after out. */
size_t frame_put_body_head(struct strbuf *out, const struct wire_body *body);

#endif
