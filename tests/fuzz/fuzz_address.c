/* What a stranger says first, the preface, and addresses as texts: a route that is taken is a good
 * one, an address that is taken fits.
 *
 * LINK: base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "base/stream/stream_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char route[STREAM_ROUTE_MAX + 1];
    struct stream_address address;
    struct err err = {""};
    if (size > 65536) {
        return 0;
    }
    char *exact = mem_alloc(size + 1); /* the line has no zero behind it */
    memcpy(exact, data, size);
    if (stream_preface_parse(exact, size, route)) {
        CHECK(stream_route_is_good(route) && strlen(route) <= STREAM_ROUTE_MAX);
    }
    mem_free(exact);
    char *text = mem_strndup((const char *)data, size);
    int rc = stream_address_parse(text, &address, &err);
    CHECK(rc == 0 || err.text[0] != '\0');
    if (rc == 0 && address.kind == STREAM_TCP) {
        CHECK(address.host[0] != '\0' && address.port[0] != '\0');
    } else if (rc == 0) {
        CHECK(address.path >= text && address.path < text + size);
    }
    mem_free(text);
    return 0;
}
