/* tests/fuzz/fuzz_rsys.c - messages of remote system calls from strangers, to the server and to the
 * client.
 *
 * The input is what a connection brings, message after message; each is decoded as a request and as
 * a reply, its data as the lists that may be in it.  What was decoded is encoded again and must be
 * the same bytes.
 *
 * LINK: rsyscall base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "rsyscall/rsys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lists(const void *data, size_t length)
{
    struct rsys_entry entry;
    struct rsys_root root;
    size_t at = 0;
    while (rsys_entry_next(data, length, &at, &entry) == 1) {
        CHECK(at <= length && strlen(entry.name.data) == entry.name.length);
    }
    at = 0;
    while (rsys_root_next(data, length, &at, &root) == 1) {
        CHECK(at <= length && strlen(root.view.data) == root.view.length);
    }
}

static void request(const uint8_t *frame, size_t length)
{
    struct rsys_request decoded;
    uint8_t again[RSYS_FIELDS_MAX];
    if (rsys_decode_request(frame, length, &decoded) != 0) {
        return;
    }
    CHECK(rsys_path_is_good(decoded.at.path.data, decoded.at.path.length));
    int fields = rsys_encode_request(&decoded, again, sizeof(again));
    CHECK(fields > 0 && (size_t)fields + decoded.data_length == length);
    CHECK(memcmp(again, frame, (size_t)fields) == 0);
}

static void reply(const uint8_t *frame, size_t length)
{
    struct rsys_reply decoded;
    uint8_t again[RSYS_FIELDS_MAX];
    if (rsys_decode_reply(frame, length, &decoded) != 0) {
        return;
    }
    lists(decoded.data, decoded.data_length);
    int fields = rsys_encode_reply(&decoded, again, sizeof(again));
    CHECK(fields > 0 && (size_t)fields + decoded.data_length == length);
    CHECK(memcmp(again, frame, (size_t)fields) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0;
    int64_t length;
    while ((length = rsys_frame_length(data + at, size - at)) > 0 && (size_t)length <= size - at) {
        request(data + at, (size_t)length);
        reply(data + at, (size_t)length);
        at += (size_t)length;
    }
    lists(data, size);
    return 0;
}
