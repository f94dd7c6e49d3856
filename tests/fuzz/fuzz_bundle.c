/* A pilot's token file: any text is taken apart or refused with one line; what is taken out of it
 * was in it.
 *
 * The parser itself and not the pilot's library: that has bodies of libc's calls, which are not for
 * a sanitizer.
 *
 * LINK: base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "pilot/pilot_plan.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pilot_bundle bundle = {0};
    struct err err = {""};
    if (size > 65536) {
        return 0;
    }
    char *text = mem_strndup((const char *)data, size);
    int rc = pilot_plan_bundle(text, &bundle, &err);
    CHECK(rc == 0 || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
    if (rc == 0) {
        CHECK(bundle.token != NULL && bundle.token[0] != '\0');
        CHECK(strstr(text, bundle.token) != NULL && strpbrk(bundle.token, " \r\n") == NULL);
        CHECK(strncmp(bundle.holder, "-----BEGIN PRIVATE KEY-----", 27) == 0);
        CHECK(bundle.ca == NULL || strstr(bundle.ca, "PRIVATE KEY") == NULL);
        CHECK(bundle.keys.count <= PILOT_KEYS_MAX);
        for (size_t i = 0; i < bundle.keys.count; i++) {
            const struct pilot_key *key = bundle.keys.items[i];
            CHECK(key->kid[0] != '\0' && key->kid[0] != '.' && strchr(key->kid, '/') == NULL);
            CHECK(strncmp(key->pem, "-----BEGIN ", 11) == 0);
        }
        pilot_bundle_fini(&bundle);
    }
    mem_free(text);
    return 0;
}
