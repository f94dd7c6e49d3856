/* Job event logs: any text is read in bounded time and memory, however it arrives; what is read
 * lies in it, in order.
 *
 * LINK: eventlog
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "eventlog/event_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const char *text, size_t size, size_t piece)
{
    struct event_reader *reader = event_reader_create();
    struct event_entry event;
    size_t found = 0, bytes = 0;
    for (size_t at = 0; at < size; at += piece) {
        event_reader_feed(reader, text + at, size - at < piece ? size - at : piece);
        while (event_reader_next(reader, &event)) {
            CHECK(event.type >= 0 && event.length > 0 && memchr(event.text, '\n', event.length));
            found++;
            bytes += event.length;
        }
    }
    CHECK(bytes <= size);
    event_reader_destroy(reader);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && size < 65536) {
        size_t piece = (size_t)data[0] % 61 + 1;
        CHECK(count((const char *)data, size, size) == count((const char *)data, size, piece));
    }
    return 0;
}
