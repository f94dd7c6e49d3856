/* Requests for tokens, and the answers to them: any text is refused with one line, or understood;
 * what is understood is printed again as what it was; and what a request can be printed with, it
 * can be read with.
 *
 * LINK: wire
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "wire/token_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct evp_pkey_st *key; /* for as long as the process lives */

static void make_key(void)
{
    struct loop *loop = NULL;
    CHECK(loop_create(&loop, NULL) == 0 && p256_make(loop, &key) == 0);
    loop_destroy(loop);
}

static bool is_refused(int rc, const struct err *err)
{
    CHECK(rc == 0 || (rc < 0 && err->text[0] != '\0' && strchr(err->text, '\n') == NULL));
    return rc != 0;
}

static void same_request(const struct token_request *one, const struct token_request *other)
{
    char first[FINGERPRINT_SIZE], second[FINGERPRINT_SIZE];
    token_request_fingerprint(one, first);
    token_request_fingerprint(other, second);
    CHECK(strcmp(first, second) == 0 && fingerprint_is(first, second));
}

static void read_request(const char *text)
{
    struct token_request request = {.identity = ""};
    struct err err = {""};
    if (!is_refused(token_request_parse(text, &request, &err), &err)) {
        CHECK(request.identity[0] != '\0' && strpbrk(request.identity, " \t\n\"\\") == NULL);
        CHECK(request.slots <= TOKEN_SLOTS_MAX && request.lifetime_s <= TOKEN_REQUEST_LIFE_MAX);
    } else {
        CHECK(request.identity[0] == '\0');
    }
}

static void read_answer(const char *text)
{
    static const uint8_t POINT[P256_POINT_BYTES];
    char first[FINGERPRINT_SIZE], second[FINGERPRINT_SIZE];
    struct token_answer answer = {.pool = NULL}, again = {.pool = NULL};
    struct strbuf out;
    struct err err = {""};
    if (is_refused(token_answer_parse(text, &answer, &err), &err)) {
        CHECK(answer.pool == NULL && answer.keys.count == 0);
        return;
    }
    CHECK(answer.keys.count > 0 && answer.keys.count <= TOKEN_KEYS_MAX);
    strbuf_init(&out, 0);
    CHECK(token_answer_print(&answer, &out, &err) == 0);
    CHECK(strstr(strbuf_text(&out), "PRIVATE") == NULL || strstr(text, "PRIVATE") != NULL);
    CHECK(token_answer_parse(strbuf_text(&out), &again, &err) == 0);
    token_answer_fingerprint(&answer, POINT, first);
    token_answer_fingerprint(&again, POINT, second);
    CHECK(strcmp(first, second) == 0);
    strbuf_fini(&out);
    token_answer_fini(&answer);
    token_answer_fini(&again);
}

/* The next line of the input, cut to what the field holds. */
static const char *next_field(const char *at, char *ret, size_t size)
{
    size_t length = strcspn(at, "\n");
    (void)snprintf(ret, size, "%.*s", (int)(length < size ? length : size - 1), at);
    return at + length + (at[length] == '\n' ? 1 : 0);
}

static void print_request(const char *text, const uint8_t *data, size_t size)
{
    struct token_request request = {.scopes = size > 0 ? data[0] : 0,
                                    .slots = size > 1 ? data[1] : 0,
                                    .lifetime_s = size > 2 ? data[2] : 0};
    struct token_request found;
    struct strbuf out;
    struct err err = {""};
    text = next_field(text, request.identity, sizeof request.identity);
    text = next_field(text, request.pool, sizeof request.pool);
    (void)next_field(text, request.pattern, sizeof request.pattern);
    strbuf_init(&out, 0);
    if (!is_refused(token_request_print(&request, key, &out, &err), &err)) {
        CHECK(token_request_parse(strbuf_text(&out), &found, &err) == 0);
        p256_point(key, request.point);
        same_request(&request, &found);
    }
    strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536) {
        return 0;
    }
    if (key == NULL) {
        make_key();
    }
    char *text = mem_strndup((const char *)data, size);
    read_request(text);
    read_answer(text);
    print_request(text, data, size);
    mem_free(text);
    return 0;
}
