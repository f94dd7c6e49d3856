/* Arguments, environments, numbers, times and sizes as texts: refused with one line, or understood;
 * what is written of it is understood the same again.
 *
 * LINK: base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const struct vec *words)
{
    struct vec again = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < words->count; i++) {
        args_append_v2(&text, words->items[i]);
    }
    CHECK(args_parse_v2(strbuf_text(&text), &again, NULL) == 0);
    CHECK(again.count == words->count);
    for (size_t i = 0; i < words->count; i++) {
        CHECK(strcmp(again.items[i], words->items[i]) == 0);
    }
    vec_fini(&again, mem_free);
    strbuf_fini(&text);
}

static void words(const char *text, int (*parse)(const char *, struct vec *, struct err *),
                  bool is_env)
{
    struct vec found = {0};
    struct err err = {""};
    int rc = parse(text, &found, &err);
    CHECK(rc == 0 || err.text[0] != '\0');
    if (rc == 0) {
        for (size_t i = 0; i < found.count && is_env; i++) {
            const char *equals = strchr(found.items[i], '=');
            CHECK(equals != NULL && equals != found.items[i]);
        }
        same_again(&found);
    }
    vec_fini(&found, mem_free);
}

static void numbers(const char *text)
{
    int64_t number = -1;
    double real = 0;
    bool is = false;
    char *end;
    if (text_parse_int64(text, &number, NULL) == 0) {
        CHECK(strtoll(text, &end, 10) == number && *end == '\0');
    }
    (void)text_parse_double(text, &real, NULL);
    (void)text_parse_bool(text, &is, NULL);
    CHECK(text_parse_duration_s(text, &number, NULL) != 0 || number >= 0);
    CHECK(text_parse_duration_ms(text, &number, NULL) != 0 || number >= 0);
    CHECK(text_parse_size(text, &number, NULL) != 0 || number >= 0);
    if (text_parse_utc(text, &number, NULL) == 0) {
        char utc[TEXT_UTC_MAX];
        int64_t again = 0;
        text_utc_ms(number, utc);
        CHECK(text_parse_utc(utc, &again, NULL) == 0 && again == number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536) {
        return 0;
    }
    char *text = mem_strndup((const char *)data, size);
    words(text, args_parse_v1, false);
    words(text, args_parse_v2, false);
    words(text, env_parse_v1, true);
    words(text, env_parse_v2, true);
    numbers(text);
    if (size < 300) {
        (void)text_glob(text, "startd@wn01.example.org", true);
        CHECK(strpbrk(text, "*?") != NULL || text_glob(text, text, false));
    }
    mem_free(text);
    return 0;
}
