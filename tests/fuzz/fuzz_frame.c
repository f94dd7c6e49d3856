/* tests/fuzz/fuzz_frame.c - frames and message bodies from strangers.
 *
 * The input is what a connection brings: frame after frame, as long as they are right.  What was
 * decoded is encoded again and must decode to the same.
 *
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/frame.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void body_again(const struct frame_message *message)
{
    struct strbuf out;
    struct frame_message again;
    struct wire_body body = {.args = message->args,
                             .ads = (const struct ad *const *)message->ads,
                             .ad_count = message->ad_count,
                             .blob = message->blob,
                             .blob_length = message->blob_length,
                             .secrets = message->secrets,
                             .secret_count = message->secret_count};
    strbuf_init(&out, 0);
    frame_put_body(&out, &body);
    CHECK(!out.failed);
    CHECK(frame_message_decode(out.data, out.length, &again, NULL) == 0);
    CHECK(again.ad_count == message->ad_count && again.blob_length == message->blob_length);
    CHECK((again.args == NULL) == (message->args == NULL));
    CHECK(again.args == NULL || ad_same(again.args, message->args));
    for (size_t i = 0; i < again.ad_count; i++) {
        CHECK(ad_same(again.ads[i], message->ads[i]));
    }
    CHECK(again.secret_count == message->secret_count);
    for (size_t i = 0; i < again.secret_count; i++) {
        CHECK(again.secrets[i].kind == message->secrets[i].kind);
        CHECK(again.secrets[i].of == message->secrets[i].of);
        CHECK(strcmp(again.secrets[i].text, message->secrets[i].text) == 0);
    }
    frame_message_fini(&again);
    strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0, used = 0;
    struct frame frame;
    while (frame_decode(data + at, size - at, (size_t)1 << 20, &frame, &used, NULL) == 1) {
        struct frame_message message;
        if (frame.body != NULL &&
            frame_message_decode(frame.body, frame.body_length, &message, NULL) == 0) {
            body_again(&message);
            frame_message_fini(&message);
        }
        at += used;
    }
    return 0;
}
