/* Tokens: any text is refused with one line or understood; and, because nothing gets past the
 * signature by chance, any bytes as the claims of a token that is signed, and as the header of one
 * that is not.
 *
 * LINK: wire
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "wire/base64url.h"
#include "wire/token.h"
#include "wire/token_limits.h"

#define NOW_S 1800000000

/* What is read as the limits of a key is complete, and is written as it was. */
static void check_limits(const char *text)
{
    struct token_limits limits, again;
    struct strbuf out;
    if (token_limits_parse(text, &limits) != 0) {
        return;
    }
    CHECK(token_limits_valid(&limits, NULL) == 0);
    strbuf_init(&out, 0);
    token_limits_print(&limits, &out);
    CHECK(out.length < TOKEN_LIMITS_TEXT);
    CHECK(token_limits_parse(strbuf_text(&out), &again) == 0);
    CHECK(again.scopes == limits.scopes && again.life_s == limits.life_s &&
          again.until_s == limits.until_s && strcmp(again.pattern, limits.pattern) == 0);
    strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct token_keys *keys;
static char *pem;
static size_t pem_length;

/* A pair of keys, for as long as the process lives; its files are gone at once. */
static void make_keys(void)
{
    char dir[] = "/tmp/fuzz-token.XXXXXX", path[64];
    struct loop *loop = NULL;
    struct os *os = NULL;
    CHECK(mkdtemp(dir) != NULL);
    CHECK(loop_create(&loop, NULL) == 0 && os_create(loop, &os, NULL) == 0);
    CHECK(token_key_make(os, loop, dir, "k", NULL) == 0);
    CHECK(token_keys_load(os, dir, &keys, NULL) == 0);
    (void)snprintf(path, sizeof path, "%s/k.key", dir);
    CHECK(os_read_file(os, path, 4096, &pem, &pem_length, NULL) == 0);
    CHECK(os_remove_tree(os, dir, NULL) == 0);
    os_destroy(os);
    loop_destroy(loop);
}

static void check(const char *text)
{
    struct token token = {.identity = "untouched"};
    struct err err = {""};
    int rc = token_check(keys, text, NOW_S, &token, &err);
    CHECK(rc == 0 || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
    bool is_filled = token.id[0] != '\0';
    CHECK(is_filled || (rc != 0 && rc != -EKEYEXPIRED));
    if (is_filled) {
        bool is_over = token.expires_s != 0 && token.expires_s <= NOW_S;
        bool is_early = token.not_before_s > NOW_S;
        CHECK(token.identity[0] != '\0' && strlen(token.identity) < sizeof token.identity);
        CHECK(rc == (is_over ? -EKEYEXPIRED : is_early ? -EKEYREJECTED : 0));
        CHECK(token.issued_s >= 0 && token.expires_s >= 0);
    } else {
        CHECK(strcmp(token.identity, "untouched") == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char HEADER[] = "{\"alg\":\"ES256\",\"kid\":\"k\"}";
    struct strbuf signed_one;
    if (size > TOKEN_TEXT_MAX + 1) {
        return 0;
    }
    if (keys == NULL) {
        make_keys();
    }
    char *text = mem_strndup((const char *)data, size);
    check(text);
    check_limits(text);
    mem_free(text);
    strbuf_init(&signed_one, 0);
    base64url_encode(&signed_one, HEADER, sizeof HEADER - 1);
    strbuf_putc(&signed_one, '.');
    base64url_encode(&signed_one, data, size);
    CHECK(token_sign(pem, pem_length, &signed_one) == 0);
    check(strbuf_text(&signed_one));
    strbuf_fini(&signed_one);
    /* and any bytes as a header, where another key may be named and shown */
    strbuf_init(&signed_one, 0);
    base64url_encode(&signed_one, data, size);
    strbuf_puts(&signed_one, ".e30.e30");
    check(strbuf_text(&signed_one));
    strbuf_fini(&signed_one);
    return 0;
}
