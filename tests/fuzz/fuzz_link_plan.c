/* Fuzzing of what a pclient sends: in whatever pieces it comes, the same messages are found.
 *
 * LINK: pcontrol base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/link_plan.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads everything; the input grows by `piece` bytes whenever more is needed.  Returns a sum over
 * the messages, in which a block of output counts the same however it was cut. */
static uint64_t read_in_pieces(const char *data, size_t size, size_t piece, bool *bad)
{
    struct link_reader reader;
    struct err err;
    size_t at = 0, end = 0;
    uint64_t sum = 0;
    *bad = false;
    link_reader_init(&reader, "n");
    for (;;) {
        struct link_message message;
        size_t used = 0;
        enum link_read read = link_plan_read(&reader, data + at, end - at, &used, &message, &err);
        CHECK(used <= end - at);
        at += used;
        if (read == LINK_BAD) {
            *bad = true;
            return sum;
        }
        if (read == LINK_MESSAGE && message.kind == LINK_OUTPUT) {
            CHECK(message.length > 0 && message.data >= data &&
                  message.data + message.length <= data + at);
            for (size_t i = 0; i < message.length; i++) {
                sum = sum * 31 + (uint8_t)message.data[i] + (uint64_t)message.stream;
            }
        } else if (read == LINK_MESSAGE) {
            sum = sum * 31 + 1000 + (uint64_t)message.kind;
        } else if (end == size) {
            return sum;
        } else {
            end = size - end < piece ? size : end + piece;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool bad, also_bad;
    uint64_t whole = read_in_pieces((const char *)data, size, size > 0 ? size : 1, &bad);
    uint64_t bytes = read_in_pieces((const char *)data, size, 1, &also_bad);
    CHECK(bad == also_bad && whole == bytes);
    return 0;
}
