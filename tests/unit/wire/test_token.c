/* tests/unit/wire/test_token.c - tokens: what is issued is accepted, everything else is told why
 * not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/check.h"
#include "base/strbuf.h"
#include "wire/base64url.h"
#include "wire/token_key.h"
#include "wire/verbs.h"

/* A public key as a claim: the base point of the curve. */
#define HOLDER                                               \
    "\"cnf\":{\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\","    \
    "\"x\":\"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY\"," \
    "\"y\":\"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU\"}}"

/* {"sub":"mallory@pool","scope":"ADMINISTRATOR"} */
#define MALLORY ".eyJzdWIiOiJtYWxsb3J5QHBvb2wiLCJzY29wZSI6IkFETUlOSVNUUkFUT1IifQ."

static struct token_keys *keys_of(struct world *world)
{
    struct token_keys *keys = NULL;
    MUST(token_keys_load(world->os, world->keys, &keys, err));
    return keys;
}

static void an_issued_token_comes_back_with_all_its_claims(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "startd@pool", SCOPE_ADVERTISE | SCOPE_READ);
    struct token found;
    (void)snprintf(token.pattern, sizeof token.pattern, "wn*");
    token.expires_s = 2000000000;
    char *text = world_issue_line(world, &token);
    assert_int_equal(token_check(keys, text, 1999999999, &found, NULL), 0);
    assert_string_equal(found.identity, "startd@pool");
    assert_string_equal(found.id, "id-of-startd@pool");
    assert_string_equal(found.pool, "pool");
    assert_string_equal(found.pattern, "wn*");
    assert_int_equal(found.scopes, SCOPE_ADVERTISE | SCOPE_READ);
    assert_int_equal(found.issued_s, token.issued_s);
    assert_int_equal(found.expires_s, 2000000000);
    mem_free(text);
    token_keys_destroy(keys);
}

/* Made with another implementation of JWT (PyJWT 2.6). */
static void a_token_of_another_implementation_is_understood(void **state)
{
    struct world *world = *state;
    struct token_keys *keys;
    struct token found;
    char path[160];
    const char *text =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IlBPT0wiLCJ0eXAiOiJKV1QifQ.eyJpYXQiOjE3OTUxOTMxNzgsImlzcyI6I"
        "nBlcnNvbmFsIiwiYXVkIjoicGVyc29uYWwiLCJqdGkiOiIwMWExZjlkYS0wYjA0LTcxMzUtYjdjMS0yYTM1NDZkM"
        "jU5M2MiLCJwYXR0ZXJuIjoid24qIiwic2NvcGUiOiJSRUFEIEFEVkVSVElTRSIsInN1YiI6ImFsaWNlQHBvb2wiL"
        "CJuYmYiOjE3OTUxOTMxNzgsImNuZiI6eyJqd2siOnsia3R5IjoiRUMiLCJjcnYiOiJQLTI1NiIsIngiOiJOcVJyZ"
        "mVnS0tWQTNNOWpOYmFwcUlzcjU0SlJGWDg3NG5vOW93OWMxY0xRIiwieSI6IjBhaEJ2WWJBZGVLN1B1WUVCeVVyS"
        "VVFSVBpdVRkMDBXNjdlN0FhQmhONWciLCJraWQiOiJsYXB0b3AifX19.v9uPw1N7fSvExxcmDXg-oYvlKm8imhx6"
        "tZScdZmcffmRNgd4jdlJO_43pT6TVwkl0VB4ceWpDic5T3DVVk7Aug";
    (void)snprintf(path, sizeof path, "%s/POOL.pub", world->keys);
    world_write(world, path,
                "-----BEGIN PUBLIC KEY-----\n"
                "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEjcRDL0e3GgyETqwtpJktxwr/fYpg\n"
                "IJn0XaB/lq7VF2QwfyU09G/Q4hm2ISIey9Bb3Tr//JFElmHhCOzgJNZf2A==\n"
                "-----END PUBLIC KEY-----\n");
    keys = keys_of(world);
    assert_int_equal(token_check(keys, text, 1795193177, &found, NULL), -EKEYREJECTED);
    assert_int_equal(token_check(keys, text, 1795193178, &found, NULL), 0);
    assert_string_equal(found.identity, "alice@pool");
    assert_string_equal(found.pool, "personal");
    uint8_t x[4];
    assert_int_equal(text_unhex("36a46b7d", x, sizeof x, NULL), 0);
    assert_memory_equal(found.holder, x, sizeof x);
    assert_string_equal(found.pattern, "wn*");
    assert_int_equal(found.scopes, SCOPE_READ | SCOPE_ADVERTISE);
    assert_int_equal(found.issued_s, 1795193178);
    assert_int_equal(found.expires_s, 0);
    token_keys_destroy(keys);
}

/* What a signed token says must still be what a token says. */
static void claims_of_other_kinds_are_refused_although_they_are_signed(void **state)
{
    struct world *world = *state;
    const struct {
        const char *claims, *says;
    } cases[] = {
        {"{}", "no identity"},
        {"[1]", "not a JSON object"},
        {"{\"sub\":\"a\"", "not a JSON object"},
        {"{\"sub\":\"a\",\"sub\":\"b\"}", "not a JSON object"},
        {"{\"sub\":\"a\\u0000b\"}", "not a JSON object"},
        {"{\"sub\":7}", "claim 'sub' is not a text"},
        {"{\"sub\":\"a\\nb\"}", "claim 'sub' contains a control character"},
        {"{\"sub\":\"a\",\"exp\":\"never\"}", "claim 'exp' is not a time"},
        {"{\"sub\":\"a\",\"exp\":1.5}", "claim 'exp' is not a time"},
        {"{\"sub\":\"a\",\"exp\":null}", "claim 'exp' is not a time"},
        {"{\"sub\":\"a\",\"iat\":-1}", "claim 'iat' is not a time"},
        {"{\"sub\":\"a\"}", "no id"},
        {"{\"sub\":\"a\",\"jti\":\"1\",\"cnf\":7}", "claim 'cnf' does not contain a public key"},
        {"{\"sub\":\"a\",\"jti\":\"1\",\"cnf\":{\"jwk\":{\"kty\":\"RSA\"}}}",
         "does not contain a public"},
        {"{\"sub\":\"a\",\"jti\":\"1\",\"cnf\":{\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":"
         "\"AA\","
         "\"y\":\"AA\"}}}",
         "does not contain a public"},
        {"{\"sub\":\"a\",\"jti\":\"1\"," HOLDER ",\"aud\":\"p\",\"iss\":\"q\"}",
         "made by pool 'q'"},
        {"{\"sub\":\"a\",\"jti\":\"1\"," HOLDER ",\"aud\":[\"p\"]}", "claim 'aud' is not a text"},
    };
    struct token_keys *keys = keys_of(world);
    char *pem;
    size_t length;
    assert_int_equal(os_read_file(world->os, world->key_path, 10000, &pem, &length, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf text;
        struct token found;
        struct err err = {{0}};
        strbuf_init(&text, 0);
        strbuf_puts(&text, "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0."); /* {"alg":"ES256","kid":"k1"} */
        base64url_encode(&text, cases[i].claims, strlen(cases[i].claims));
        assert_int_equal(token_sign(pem, length, &text), 0);
        assert_int_equal(token_check(keys, strbuf_text(&text), 0, &found, &err), -EINVAL);
        assert_non_null(strstr(err.text, cases[i].says));
        strbuf_fini(&text);
    }
    mem_free(pem);
    token_keys_destroy(keys);
}

static void an_expiry_of_zero_is_1970_not_never(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    const char *claims = "{\"sub\":\"a\",\"jti\":\"1\"," HOLDER ",\"exp\":0}";
    struct strbuf text;
    struct token found;
    char *pem;
    size_t length;
    assert_int_equal(os_read_file(world->os, world->key_path, 10000, &pem, &length, NULL), 0);
    strbuf_init(&text, 0);
    strbuf_puts(&text, "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.");
    base64url_encode(&text, claims, strlen(claims));
    assert_int_equal(token_sign(pem, length, &text), 0);
    assert_int_equal(token_check(keys, strbuf_text(&text), 100, &found, NULL), -EKEYEXPIRED);
    strbuf_fini(&text);
    mem_free(pem);
    token_keys_destroy(keys);
}

static void a_key_that_is_none_signs_nothing(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct err err = {{0}};
    char path[160], *text = NULL;
    (void)snprintf(path, sizeof path, "%s/bad.key", world->keys);
    assert_int_equal(os_write_file(world->os, path, "rubbish", 7, 0600, false, NULL), 0);
    assert_int_equal(token_issue(world->os, path, "bad", &token, &text, &err), -EINVAL);
    assert_non_null(strstr(err.text, "bad.key: not a private key of curve P-256"));
    (void)snprintf(token.identity, sizeof token.identity, "\xff"); /* no UTF-8 */
    assert_int_equal(token_issue(world->os, world->key_path, "k1", &token, &text, &err), -EINVAL);
    assert_null(text);
}

static void a_token_is_expired_from_its_second_on_and_says_whose_it_was(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ), found = {0};
    struct err err = {{0}};
    token.expires_s = 1000000000;
    char *text = world_issue_line(world, &token);
    assert_int_equal(token_check(keys, text, 1000000000, &found, &err), -EKEYEXPIRED);
    assert_non_null(strstr(err.text, "token expired at 2001-09-09T01:46:40Z"));
    assert_string_equal(found.identity, "alice@pool");
    assert_int_equal(token_check(keys, text, 999999999, &found, &err), 0);
    mem_free(text);
    token_keys_destroy(keys);
}

static void no_token_is_not_a_malformed_token(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token found;
    struct err err = {{0}};
    assert_int_equal(token_check(keys, "", 0, &found, &err), -ENOKEY);
    assert_string_equal(err.text, "no token");
    assert_int_equal(token_check(keys, NULL, 0, &found, &err), -ENOKEY);
    token_keys_destroy(keys);
}

static void malformed_tokens_are_refused_as_such(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token found;
    char *longest = calloc(1, TOKEN_TEXT_MAX + 2);
    memset(longest, 'a', TOKEN_TEXT_MAX + 1);
    const struct {
        const char *text, *says;
    } cases[] = {
        {"rubbish", "not a JWT"},
        {"a.b.c", "not a JWT"},
        {"..", "not a JWT"},
        {"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0" MALLORY "c2ln.bmF0dXJl", "not a JWT"},
        {longest, "longer than 4096"},
        /* {"alg":"none","kid":"k1"} */
        {"eyJhbGciOiJub25lIiwia2lkIjoiazEifQ" MALLORY, "not ES256"},
        /* {"alg":"HS256","kid":"k1"}: the public key as a shared secret */
        {"eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0" MALLORY "c2lnbmF0dXJl", "not ES256"},
        /* {"alg":"ES256"} */
        {"eyJhbGciOiJFUzI1NiJ9" MALLORY "c2lnbmF0dXJl", "header 'kid' is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {{0}};
        assert_int_equal(token_check(keys, cases[i].text, 0, &found, &err), -EINVAL);
        assert_int_equal(strncmp(err.text, "malformed token", 15), 0);
        assert_non_null(strstr(err.text, cases[i].says));
    }
    free(longest);
    token_keys_destroy(keys);
}

static void a_forged_signature_is_refused(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token found;
    struct err err = {{0}};
    /* {"alg":"ES256","kid":"k1"} */
    const char *forged = "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0" MALLORY "c2lnbmF0dXJl";
    assert_int_equal(token_check(keys, forged, 0, &found, &err), -EKEYREJECTED);
    assert_string_equal(err.text, "token signature is wrong (key 'k1')");
    token_keys_destroy(keys);
}

static void a_changed_claim_breaks_the_signature(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ), found;
    char *text = world_issue_line(world, &token);
    char *claims = strchr(text, '.') + 1;
    claims[12] = claims[12] == 'A' ? 'B' : 'A';
    int rc = token_check(keys, text, 0, &found, NULL);
    assert_true(rc == -EKEYREJECTED || rc == -EINVAL); /* the change may also break the JSON */
    mem_free(text);
    token_keys_destroy(keys);
}

static void a_token_of_another_key_is_refused_by_the_name_of_that_key(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ), found;
    struct err err = {{0}};
    char other[128], other_key[160], *text = NULL;
    (void)snprintf(other, sizeof other, "%s/other", world->dir);
    (void)snprintf(other_key, sizeof other_key, "%s/k2.key", other);
    assert_int_equal(os_mkdirs(world->os, other, 0700, NULL), 0);
    assert_int_equal(token_key_make(world->os, world->loop, other, "k2", NULL), 0);
    assert_int_equal(token_issue(world->os, other_key, "k2", &token, &text, NULL), 0);
    assert_int_equal(token_check(keys, text, 0, &found, &err), -EKEYREJECTED);
    assert_string_equal(err.text, "token is signed with unknown key 'k2'");
    mem_free(text);
    /* the same key under the name of ours: the signature is wrong */
    assert_int_equal(token_issue(world->os, other_key, "k1", &token, &text, NULL), 0);
    assert_int_equal(token_check(keys, text, 0, &found, &err), -EKEYREJECTED);
    assert_string_equal(err.text, "token signature is wrong (key 'k1')");
    mem_free(text);
    token_keys_destroy(keys);
}

static void two_keys_are_valid_during_an_overlap(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ), found;
    char key2[160], *old = world_issue_line(world, &token), *new = NULL;
    (void)snprintf(key2, sizeof key2, "%s/k2.key", world->keys);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k2", NULL), 0);
    assert_int_equal(token_issue(world->os, key2, "k2", &token, &new, NULL), 0);
    struct token_keys *keys = keys_of(world);
    assert_int_equal(token_keys_count(keys), 2);
    assert_int_equal(token_check(keys, old, 0, &found, NULL), 0);
    assert_int_equal(token_check(keys, new, 0, &found, NULL), 0);
    mem_free(old);
    mem_free(new);
    token_keys_destroy(keys);
}

/* A directory with the public key of our first signing key alone, as an execute machine has it. */
static struct token_keys *old_key_alone(struct world *world)
{
    char pub[160], *pem = NULL;
    size_t length = 0;
    struct token_keys *keys = token_keys_create();
    (void)snprintf(pub, sizeof pub, "%s/k1.pub", world->keys);
    assert_int_equal(os_read_file(world->os, pub, 4096, &pem, &length, NULL), 0);
    assert_int_equal(token_keys_add(keys, "k1", pem, NULL), 0);
    mem_free(pem);
    return keys;
}

/* A token of the key in <dir>/<kid>.key. */
static char *token_of_key(struct world *world, const char *dir, const char *kid)
{
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    char path[200], *text = NULL;
    (void)snprintf(path, sizeof path, "%s/%s.key", dir, kid);
    assert_int_equal(token_issue(world->os, path, kid, &token, &text, NULL), 0);
    return text;
}

static void a_key_is_good_where_only_the_one_is_that_answers_for_it(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = old_key_alone(world), *nobody = token_keys_create();
    struct token found;
    struct err err = {{0}};
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k2", NULL), 0);
    char *text = token_of_key(world, world->keys, "k2");
    assert_int_equal(token_check(keys, text, 0, &found, &err), -EKEYREJECTED);
    assert_string_equal(err.text, "token is signed with unknown key 'k2'");
    mem_free(text);
    assert_int_equal(token_key_endorse(world->os, world->keys, "k2", "k1", NULL), 0);
    text = token_of_key(world, world->keys, "k2");
    assert_int_equal(token_check(keys, text, 0, &found, &err), 0);
    assert_string_equal(found.identity, "alice@pool");
    /* The old key is taken away: with it goes what it answered for. */
    assert_int_equal(token_check(nobody, text, 0, &found, &err), -EKEYREJECTED);
    assert_non_null(strstr(err.text, "the key 'k1' that endorses it is unknown"));
    /* A key known from a header answers for nobody. */
    mem_free(text);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k3", NULL), 0);
    assert_int_equal(token_key_endorse(world->os, world->keys, "k3", "k2", NULL), 0);
    text = token_of_key(world, world->keys, "k3");
    assert_int_equal(token_check(keys, text, 0, &found, &err), -EKEYREJECTED);
    assert_non_null(strstr(err.text, "the key 'k2' that endorses it is unknown"));
    mem_free(text);
    token_keys_destroy(nobody);
    token_keys_destroy(keys);
}

/* Of a token of the key k2: one that k1 did not answer for. */
static void assert_not_endorsed(struct world *world, const char *dir, const char *kid)
{
    struct token_keys *keys = old_key_alone(world);
    struct token found;
    struct err err = {{0}};
    char *text = token_of_key(world, dir, kid);
    assert_int_equal(token_check(keys, text, 0, &found, &err), -EKEYREJECTED);
    assert_non_null(strstr(err.text, "which 'k1' has not endorsed"));
    mem_free(text);
    token_keys_destroy(keys);
}

static void an_endorsement_is_for_one_key_under_one_name(void **state)
{
    struct world *world = *state;
    char other[128], from[200], to[200], *line = NULL;
    size_t length = 0;
    (void)snprintf(other, sizeof other, "%s/other", world->dir);
    assert_int_equal(os_mkdirs(world->os, other, 0700, NULL), 0);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k2", NULL), 0);
    assert_int_equal(token_key_endorse(world->os, world->keys, "k2", "k1", NULL), 0);
    (void)snprintf(from, sizeof from, "%s/k2.by", world->keys);
    assert_int_equal(os_read_file(world->os, from, 4096, &line, &length, NULL), 0);
    /* another key of that name */
    assert_int_equal(token_key_make(world->os, world->loop, other, "k2", NULL), 0);
    (void)snprintf(to, sizeof to, "%s/k2.by", other);
    assert_int_equal(os_write_file(world->os, to, line, length, 0644, true, NULL), 0);
    assert_not_endorsed(world, other, "k2");
    /* that key under another name */
    char *pem = NULL;
    size_t pem_length = 0;
    (void)snprintf(from, sizeof from, "%s/k2.key", world->keys);
    assert_int_equal(os_read_file(world->os, from, 4096, &pem, &pem_length, NULL), 0);
    (void)snprintf(to, sizeof to, "%s/k9.key", other);
    assert_int_equal(os_write_file(world->os, to, pem, pem_length, 0600, true, NULL), 0);
    (void)snprintf(to, sizeof to, "%s/k9.by", other);
    assert_int_equal(os_write_file(world->os, to, line, length, 0644, true, NULL), 0);
    assert_not_endorsed(world, other, "k9");
    /* a signature of another k1 */
    assert_int_equal(token_key_make(world->os, world->loop, other, "k1", NULL), 0);
    assert_int_equal(token_key_endorse(world->os, other, "k2", "k1", NULL), 0);
    assert_not_endorsed(world, other, "k2");
    mem_free(line);
    mem_free(pem);
}

static void a_key_answers_for_another_one_that_is_there(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct err err = {{0}};
    char path[160], *text = NULL;
    assert_int_equal(token_key_endorse(world->os, world->keys, "k1", "k1", &err), -EINVAL);
    assert_int_equal(token_key_endorse(world->os, world->keys, "k2", "k1", &err), -ENOENT);
    assert_non_null(strstr(err.text, "k2.pub"));
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k2", NULL), 0);
    assert_int_equal(token_key_endorse(world->os, world->keys, "k2", "k0", &err), -ENOENT);
    assert_non_null(strstr(err.text, "k0.key"));
    assert_int_equal(token_key_endorse(world->os, world->keys, "k2", "../k1", &err), -EINVAL);
    (void)snprintf(path, sizeof path, "%s/k2.by", world->keys);
    assert_int_equal(os_write_file(world->os, path, "k1\n", 3, 0644, true, NULL), 0);
    (void)snprintf(path, sizeof path, "%s/k2.key", world->keys);
    assert_int_equal(token_issue(world->os, path, "k2", &token, &text, &err), -EINVAL);
    assert_non_null(strstr(err.text, "k2.by"));
    assert_null(text);
}

/* ---- a key with limits ----------------------------------------------------------------------- */

#define DAY_S   86400
#define NOW_S   1800000000
#define UNTIL_S (NOW_S + (int64_t)10 * DAY_S)

/* Makes the limited key "f" below the world's directory of private keys. */
static void make_limited(struct world *world, const char *dir)
{
    const struct token_key_limited spec = {.kid = "f",
                                           .by = "k1",
                                           .limits = {.pattern = "factory-*",
                                                      .scopes = SCOPE_READ | SCOPE_ADVERTISE |
                                                                SCOPE_TICKET,
                                                      .life_s = DAY_S,
                                                      .until_s = UNTIL_S}};
    MUST(token_key_make_limited(world->os, world->loop, dir, &spec, err));
}

static struct token glidein_token(struct world *world)
{
    struct token token = world_token_of(world, "factory-here-1.1", SCOPE_READ | SCOPE_ADVERTISE);
    (void)snprintf(token.pattern, sizeof(token.pattern), "factory-here-1.1");
    token.issued_s = NOW_S;
    token.expires_s = NOW_S + DAY_S;
    return token;
}

/* Signs as a thief of the private key would, who asks no endorsement: by that of a key without
 * limits, whose header is then replaced by one that is valid. */
static char *sign_anything(struct world *world, const struct token *token)
{
    char bare[160], key[160], *pem = NULL, *line = NULL, *good = NULL;
    size_t length = 0;
    struct token allowed = glidein_token(world);
    struct strbuf text;
    (void)snprintf(bare, sizeof(bare), "%s/bare", world->dir);
    (void)snprintf(key, sizeof(key), "%s/f.key", world->keys);
    MUST(os_mkdirs(world->os, bare, 0700, err));
    MUST(os_read_file(world->os, key, 4096, &pem, &length, err));
    (void)snprintf(bare, sizeof(bare), "%s/bare/f.key", world->dir);
    MUST(os_write_file(world->os, bare, pem, length, 0600, false, err));
    MUST(token_issue(world->os, bare, "f", token, &line, err));
    MUST(token_issue(world->os, key, "f", &allowed, &good, err));
    strbuf_init(&text, 0);
    const char *claims = strchr(line, '.') + 1;
    strbuf_append(&text, good, (size_t)(strchr(good, '.') + 1 - good));
    strbuf_append(&text, claims, strcspn(claims, "."));
    MUST(token_sign(pem, length, &text) == 0 ? 0 : err_set(err, -EINVAL, "token_sign"));
    mem_free(pem);
    mem_free(line);
    mem_free(good);
    return strbuf_take(&text);
}

static void assert_beyond(struct world *world, const struct token *token, const char *why)
{
    struct token_keys *keys = keys_of(world);
    struct token found;
    struct err err = {{0}};
    char *text = sign_anything(world, token), *issued = NULL, key[160];
    assert_int_equal(token_check(keys, text, NOW_S, &found, &err), -EKEYREJECTED);
    assert_string_equal(err.text, why);
    /* and its owner does not make such a token by mistake */
    (void)snprintf(key, sizeof(key), "%s/f.key", world->keys);
    assert_int_equal(token_issue(world->os, key, "f", token, &issued, &err), -EKEYREJECTED);
    assert_string_equal(err.text, why);
    mem_free(text);
    token_keys_destroy(keys);
}

static void a_limited_key_signs_what_its_limits_allow(void **state)
{
    struct world *world = *state;
    struct token token = glidein_token(world), found;
    char key[160], *text = NULL;
    make_limited(world, world->keys);
    struct token_keys *keys = keys_of(world);
    (void)snprintf(key, sizeof(key), "%s/f.key", world->keys);
    MUST(token_issue(world->os, key, "f", &token, &text, err));
    MUST(token_check(keys, text, NOW_S, &found, err));
    assert_string_equal(found.identity, "factory-here-1.1");
    assert_int_equal(found.scopes, SCOPE_READ | SCOPE_ADVERTISE);
    assert_int_equal(token_keys_count(keys), 1); /* it has no file of its own */
    mem_free(text);
    text = sign_anything(world, &token);
    MUST(token_check(keys, text, NOW_S, &found, err));
    mem_free(text);
    token_keys_destroy(keys);
}

static void a_limited_key_signs_nothing_beyond_its_limits(void **state)
{
    struct world *world = *state;
    make_limited(world, world->keys);
    struct token token = glidein_token(world);
    (void)snprintf(token.identity, sizeof(token.identity), "root@pool");
    assert_beyond(world, &token,
                  "the key 'f' may not sign for the identity 'root@pool': its own begin with "
                  "'factory-'");
    token = glidein_token(world);
    (void)snprintf(token.pattern, sizeof(token.pattern), "*");
    assert_beyond(world, &token,
                  "the key 'f' may not sign for the names '*': its own begin with 'factory-'");
    token.pattern[0] = '\0'; /* all names */
    assert_beyond(world, &token,
                  "the key 'f' may not sign for the names '': its own begin with 'factory-'");
    token = glidein_token(world);
    token.scopes |= SCOPE_WRITE | SCOPE_ADMINISTRATOR;
    assert_beyond(world, &token, "the key 'f' may not sign the scope WRITE,ADMINISTRATOR");
    token = glidein_token(world);
    token.expires_s += 601;
    assert_beyond(world, &token,
                  "the key 'f' may not sign a token that is valid for more than 86400 s");
    token.expires_s = 0; /* never */
    assert_beyond(world, &token,
                  "the key 'f' may not sign a token that is valid for more than 86400 s");
}

static void a_limited_key_ends(void **state)
{
    struct world *world = *state;
    struct token token = glidein_token(world), found;
    struct err err = {{0}};
    make_limited(world, world->keys);
    token.issued_s = UNTIL_S - 100;
    token.expires_s = UNTIL_S + 1;
    struct token_keys *keys = keys_of(world);
    char *text = sign_anything(world, &token);
    assert_int_equal(token_check(keys, text, UNTIL_S - 100, &found, &err), -EKEYREJECTED);
    assert_string_equal(err.text,
                        "the key 'f' may not sign a token that is valid after the end of the key");
    mem_free(text);
    token_keys_destroy(keys);
}

/* Replaces a part of the file <kid>.by. */
static void edit_endorsement(struct world *world, const char *from, const char *to)
{
    char path[160], *line = NULL;
    size_t length = 0;
    struct strbuf text;
    (void)snprintf(path, sizeof(path), "%s/f.by", world->keys);
    MUST(os_read_file(world->os, path, 4096, &line, &length, err));
    const char *at = strstr(line, from);
    assert_non_null(at);
    strbuf_init(&text, 0);
    strbuf_append(&text, line, (size_t)(at - line));
    strbuf_puts(&text, to);
    strbuf_puts(&text, at + strlen(from));
    MUST(os_write_file(world->os, path, text.data, text.length, 0644, true, err));
    strbuf_fini(&text);
    mem_free(line);
}

static void limits_are_part_of_the_endorsement(void **state)
{
    static const struct {
        const char *from, *to;
    } EDITS[] = {{"factory-*", "fac*"},
                 {"ADVERTISE", "ADVERTISE,TICKET"},
                 {" 86400 ", " 864000 "},
                 {" factory-* READ,ADVERTISE,TICKET 86400 1800864000", ""}};
    struct world *world = *state;
    for (size_t i = 0; i < ARRAY_COUNT(EDITS); i++) {
        struct token_keys *keys = keys_of(world);
        struct token token = glidein_token(world), found;
        struct err why = {{0}};
        char path[160], *text = NULL;
        make_limited(world, world->keys);
        if (i == 1) {
            edit_endorsement(world, "ADVERTISE,TICKET", "ADVERTISE");
        } else {
            edit_endorsement(world, EDITS[i].from, EDITS[i].to);
        }
        (void)snprintf(path, sizeof(path), "%s/f.key", world->keys);
        MUST(token_issue(world->os, path, "f", &token, &text, err));
        assert_int_equal(token_check(keys, text, NOW_S, &found, &why), -EKEYREJECTED);
        assert_string_equal(why.text,
                            "token is signed with unknown key 'f', which 'k1' has not endorsed");
        mem_free(text);
        MUST(os_remove(world->os, path, err));
        (void)snprintf(path, sizeof(path), "%s/f.by", world->keys);
        MUST(os_remove(world->os, path, err));
        token_keys_destroy(keys);
    }
}

static void limits_that_are_not_complete_make_no_key(void **state)
{
    struct world *world = *state;
    static const struct token_limits BAD[] = {
        {.pattern = "", .scopes = SCOPE_READ, .life_s = 1, .until_s = 1},
        {.pattern = "*", .scopes = SCOPE_READ, .life_s = 1, .until_s = 1},
        {.pattern = "a?*", .scopes = SCOPE_READ, .life_s = 1, .until_s = 1},
        {.pattern = "a*b", .scopes = SCOPE_READ, .life_s = 1, .until_s = 1},
        {.pattern = "a b*", .scopes = SCOPE_READ, .life_s = 1, .until_s = 1},
        {.pattern = "a*", .scopes = SCOPE_WRITE, .life_s = 1, .until_s = 1},
        {.pattern = "a*", .scopes = 0, .life_s = 1, .until_s = 1},
        {.pattern = "a*", .scopes = SCOPE_READ, .life_s = 0, .until_s = 1},
        {.pattern = "a*", .scopes = SCOPE_READ, .life_s = 367LL * DAY_S, .until_s = 1},
        {.pattern = "a*", .scopes = SCOPE_READ, .life_s = 1, .until_s = 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        const struct token_key_limited spec = {.kid = "f", .by = "k1", .limits = BAD[i]};
        struct os_stat there;
        char path[160];
        assert_int_equal(token_key_make_limited(world->os, world->loop, world->keys, &spec, NULL),
                         -EINVAL);
        (void)snprintf(path, sizeof(path), "%s/f.key", world->keys);
        assert_int_equal(os_stat(world->os, path, &there), -ENOENT);
    }
}

static void a_signing_key_is_never_overwritten_nor_named_like_a_path(void **state)
{
    struct world *world = *state;
    struct err err = {{0}};
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k1", &err), -EEXIST);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/elsewhere.pub", world->keys);
    assert_int_equal(os_write_file(world->os, path, "x", 1, 0644, true, NULL), 0);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "elsewhere", &err),
                     -EEXIST); /* whose private half another administrator has */
    assert_non_null(strstr(err.text, "elsewhere.pub"));
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "../k1", &err), -EINVAL);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, ".k", &err), -EINVAL);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "", &err), -EINVAL);
}

static void a_signing_key_that_others_may_read_is_not_used(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct err err = {{0}};
    char *text = NULL;
    struct os_stat stat;
    assert_int_equal(os_stat(world->os, world->key_path, &stat), 0);
    assert_int_equal(stat.mode & 0777, 0600);
    assert_int_equal(os_chmod(world->os, world->key_path, 0640, NULL), 0);
    assert_int_equal(token_issue(world->os, world->key_path, "k1", &token, &text, &err), -EACCES);
    assert_non_null(strstr(err.text, "0600"));
    assert_null(text);
}

static void no_single_changed_character_passes(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ), found;
    char *text = world_issue_line(world, &token);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        char was = text[i];
        text[i] = was == 'w' || was == 'x' || was == 'y' || was == 'z' ? 'A' : 'w';
        assert_true(token_check(keys, text, 0, &found, NULL) < 0);
        text[i] = was;
    }
    text[length - 1]++; /* a bit that carries nothing */
    assert_int_equal(token_check(keys, text, 0, &found, NULL), -EKEYREJECTED);
    text[length - 1]--;
    assert_int_equal(token_check(keys, text, 0, &found, NULL), 0);
    mem_free(text);
    token_keys_destroy(keys);
}

static void a_file_that_is_no_public_key_is_named(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = NULL;
    struct err err = {{0}};
    char path[160];
    (void)snprintf(path, sizeof path, "%s/bad.pub", world->keys);
    world_write(world, path, "rubbish");
    assert_int_equal(token_keys_load(world->os, world->keys, &keys, &err), -EINVAL);
    assert_non_null(strstr(err.text, "bad.pub: not a public key"));
    assert_null(keys);
}

static void a_token_says_how_many_slots_it_is_for(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "startd@pool", SCOPE_ADVERTISE), found;
    static const uint32_t NUMBERS[] = {0, 1, 640, TOKEN_SLOTS_MAX};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        token.slots = NUMBERS[i];
        char *text = world_issue_line(world, &token);
        assert_int_equal(token_check(keys, text, 0, &found, NULL), 0);
        assert_int_equal(found.slots, NUMBERS[i]);
        mem_free(text);
    }
    token.slots = TOKEN_SLOTS_MAX + 1;
    char *text = world_issue_line(world, &token);
    struct err err = {{0}};
    assert_int_equal(token_check(keys, text, 0, &found, &err), -EINVAL);
    assert_non_null(strstr(err.text, "claim 'slots'"));
    mem_free(text);
    token_keys_destroy(keys);
}

static void a_schedds_token_says_as_whom_its_jobs_may_run(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = keys_of(world);
    struct token token = world_token_of(world, "schedd@pool", SCOPE_SCHEDD), found;
    for (int says = 0; says < 2; says++) {
        (void)snprintf(token.uid_domain, sizeof token.uid_domain, "%s", says ? "site" : "");
        (void)snprintf(token.owners, sizeof token.owners, "%s", says ? "phys-*" : "");
        char *text = world_issue_line(world, &token);
        assert_int_equal(token_check(keys, text, 0, &found, NULL), 0);
        assert_string_equal(found.uid_domain, token.uid_domain);
        assert_string_equal(found.owners, token.owners);
        mem_free(text);
    }
    token_keys_destroy(keys);
}

static void a_directory_without_keys_says_so(void **state)
{
    struct world *world = *state;
    struct token_keys *keys = NULL;
    struct err err = {{0}};
    assert_int_equal(token_keys_load(world->os, world->dir, &keys, &err), -ENOENT);
    assert_non_null(strstr(err.text, world->dir));
    assert_null(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(an_issued_token_comes_back_with_all_its_claims),
        WORLD_TEST(a_token_of_another_implementation_is_understood),
        WORLD_TEST(claims_of_other_kinds_are_refused_although_they_are_signed),
        WORLD_TEST(an_expiry_of_zero_is_1970_not_never),
        WORLD_TEST(a_key_that_is_none_signs_nothing),
        WORLD_TEST(a_token_is_expired_from_its_second_on_and_says_whose_it_was),
        WORLD_TEST(no_token_is_not_a_malformed_token),
        WORLD_TEST(malformed_tokens_are_refused_as_such),
        WORLD_TEST(a_forged_signature_is_refused),
        WORLD_TEST(a_changed_claim_breaks_the_signature),
        WORLD_TEST(a_token_of_another_key_is_refused_by_the_name_of_that_key),
        WORLD_TEST(two_keys_are_valid_during_an_overlap),
        WORLD_TEST(a_key_is_good_where_only_the_one_is_that_answers_for_it),
        WORLD_TEST(an_endorsement_is_for_one_key_under_one_name),
        WORLD_TEST(a_key_answers_for_another_one_that_is_there),
        WORLD_TEST(a_limited_key_signs_what_its_limits_allow),
        WORLD_TEST(a_limited_key_signs_nothing_beyond_its_limits),
        WORLD_TEST(a_limited_key_ends),
        WORLD_TEST(limits_are_part_of_the_endorsement),
        WORLD_TEST(limits_that_are_not_complete_make_no_key),
        WORLD_TEST(a_signing_key_is_never_overwritten_nor_named_like_a_path),
        WORLD_TEST(a_signing_key_that_others_may_read_is_not_used),
        WORLD_TEST(no_single_changed_character_passes),
        WORLD_TEST(a_file_that_is_no_public_key_is_named),
        WORLD_TEST(a_token_says_how_many_slots_it_is_for),
        WORLD_TEST(a_schedds_token_says_as_whom_its_jobs_may_run),
        WORLD_TEST(a_directory_without_keys_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
