/* wire/request_view.c - what a handler sees of a request, and the callbacks it sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "wire/wire_private.h"

enum wire_verb wire_request_verb(const struct wire_request *request)
{
    return request->verb;
}

const struct wire_peer *wire_request_peer(const struct wire_request *request)
{
    return &request->caller->peer;
}

const struct caller *wire_request_caller(const struct wire_request *request)
{
    return request->caller;
}

struct wire *wire_request_wire(const struct wire_request *request)
{
    return request->wire;
}

const struct ad *wire_request_args(const struct wire_request *request)
{
    return request->message.args;
}

size_t wire_request_ad_count(const struct wire_request *request)
{
    return request->message.ad_count;
}

const struct ad *wire_request_ad(const struct wire_request *request, size_t index)
{
    CHECK(index < request->message.ad_count);
    return request->message.ads[index];
}

struct ad *wire_request_take_ad(struct wire_request *request, size_t index)
{
    CHECK(index < request->message.ad_count);
    struct ad *ad = request->message.ads[index];
    request->message.ads[index] = NULL;
    return ad;
}

static bool is_handled(const struct wire_request *request)
{
    return request->wire != NULL && request->wire->handled == request;
}

const void *wire_request_next_ad_bytes(struct wire_request *request, size_t *length)
{
    CHECK(is_handled(request));
    return frame_ads_next(&request->wire->handled_ads, length);
}

size_t wire_request_ad_bytes_left(const struct wire_request *request)
{
    return is_handled(request) ? request->wire->handled_ads.count : 0;
}

const char *wire_request_secret(const struct wire_request *request, enum wire_secret_kind kind)
{
    return wire_secret_find(request->message.secrets, request->message.secret_count, kind,
                            SECRET_OF_ARGS);
}

const struct wire_secret *wire_request_secrets(const struct wire_request *request, size_t *count)
{
    *count = request->message.secret_count;
    return request->message.secrets;
}

const void *wire_request_blob(const struct wire_request *request, size_t *length)
{
    *length = request->message.blob_length;
    return request->blob;
}

void wire_request_on_drained(struct wire_request *request, void (*drained)(void *arg), void *arg)
{
    request->has_room = drained;
    request->has_room_arg = arg;
}

void wire_request_on_gone(struct wire_request *request, void (*gone)(void *arg), void *arg)
{
    request->gone = gone;
    request->gone_arg = arg;
}

void wire_request_on_window(struct wire_request *request, void (*window)(void *arg, uint32_t bytes),
                            void *arg)
{
    request->window = window;
    request->window_arg = arg;
}
