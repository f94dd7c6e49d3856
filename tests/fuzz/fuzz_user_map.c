/* Fuzzing of user maps: any text as a map, any user looked up in it.  Includes bring the text
 * again, so that their depth is tried; patterns are the strangers' who write maps.
 *
 * The input: method, user and text, each but the last ended by a zero byte.
 *
 * LINK: user_maps classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_limits.h"
#include "user_maps/user_map.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define INPUT_MAX     ((size_t)1 << 13)
#define ANSWER_MAX    ((size_t)1 << 20)
#define COMPLAINT_MAX 256

struct reading {
    const char *text;
    unsigned lines;
    unsigned includes;
};

static bool include(void *arg, const char *path, struct strbuf *out)
{
    struct reading *reading = arg;
    if (path[0] == 'x' || reading->includes++ > 20) {
        return false;
    }
    strbuf_puts(out, reading->text);
    return true;
}

static void complain(void *arg, unsigned line, const char *reason)
{
    const struct reading *reading = arg;
    CHECK(line >= 1 && line <= reading->lines);
    CHECK(reason[0] != '\0' && strlen(reason) < COMPLAINT_MAX + INPUT_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX) {
        return 0;
    }
    char *method = mem_zalloc(size + 3); /* three texts, whatever it holds */
    if (size > 0) {
        memcpy(method, data, size);
    }
    const char *user = method + strlen(method) + 1;
    user = user > method + size ? "" : user;
    const char *text = user[0] != '\0' ? user + strlen(user) + 1 : "";
    text = text > method + size ? "" : text;
    struct reading reading = {.text = text, .lines = 1};
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        reading.lines++;
    }
    const struct user_map_reader reader = {.include = include,
                                           .complain = complain,
                                           .arg = &reading};
    struct user_map *map = user_map_create();
    struct strbuf first, again;
    strbuf_init(&first, ANSWER_MAX);
    strbuf_init(&again, ANSWER_MAX);
    user_map_add(map, text, strlen(text), &reader);
    uint32_t steps = AD_EVAL_STEPS_MAX, more_steps = AD_EVAL_STEPS_MAX;
    bool found = user_map_find(map, method, user, &first, &steps);
    CHECK(found || first.length == 0);
    CHECK(user_map_find(map, method, user, &again, &more_steps) ==
          found); /* a look changes nothing */
    CHECK(first.failed || strcmp(strbuf_text(&first), strbuf_text(&again)) == 0);
    strbuf_fini(&first);
    strbuf_fini(&again);
    user_map_destroy(map);
    mem_free(method);
    return 0;
}
