/* tests/unit/wire/test_token_request.c - requests for tokens and the answers to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/check.h"
#include "wire/fingerprint.h"
#include "wire/proof.h"
#include "wire/token_request.h"
#include "wire/verbs.h"

#define CA                              \
    "-----BEGIN CERTIFICATE-----\n"     \
    "MIIBgDCCASWgAwIBAgIUDQjEoJrHzg=\n" \
    "-----END CERTIFICATE-----\n"

static struct evp_pkey_st *key_of(struct world *world)
{
    struct evp_pkey_st *key = NULL;
    assert_int_equal(p256_make(world->loop, &key), 0);
    return key;
}

static struct token_request wish(const char *identity)
{
    struct token_request request = {.scopes = SCOPE_READ | SCOPE_ADVERTISE,
                                    .slots = 800,
                                    .lifetime_s = 86400,
                                    .pool = "pool",
                                    .pattern = "wn*"};
    (void)snprintf(request.identity, sizeof request.identity, "%s", identity);
    return request;
}

/* The caller frees it. */
static char *printed(const struct token_request *request, struct evp_pkey_st *key)
{
    struct strbuf text;
    struct err err = {""};
    strbuf_init(&text, 0);
    if (token_request_print(request, key, &text, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return strbuf_take(&text);
}

/* text with the first `from` in it replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
    struct strbuf out;
    const char *at = strstr(text, from);
    assert_non_null(at);
    strbuf_init(&out, 0);
    strbuf_printf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return strbuf_take(&out);
}

static void refused(const char *text, int code, const char *why)
{
    struct token_request found = {.identity = "untouched"};
    struct err err = {""};
    assert_int_equal(token_request_parse(text, &found, &err), code);
    if (strstr(err.text, why) == NULL) {
        fail_msg("'%s' is not in '%s'", why, err.text);
    }
    assert_string_equal(found.identity, "untouched");
}

/* ---- fingerprints */

static void a_fingerprint_is_a_hundred_bits_of_the_digest(void **state)
{
    (void)state;
    char fingerprint[FINGERPRINT_SIZE];
    /* SHA-256 of "abc" begins ba7816bf 8f01cfea 414140de 5d. */
    fingerprint_of("abc", 3, fingerprint);
    assert_string_equal(fingerprint, "Q9W1-DFWF-077Y-MGA1-83F5");
}

static void what_is_typed_may_look_otherwise_but_is_all_of_it(void **state)
{
    (void)state;
    const char *fingerprint = "Q9W1-DFWF-077Y-MGA1-83F5";
    assert_true(fingerprint_is(fingerprint, fingerprint));
    assert_true(fingerprint_is(fingerprint, " q9wl dfwf o77y mgai 83f5\n"));
    assert_true(fingerprint_is(fingerprint, "q9w1dfwf077ymga183f5"));
    assert_false(fingerprint_is(fingerprint, "Q9W1-DFWF-077Y-MGA1-83F"));
    assert_false(fingerprint_is(fingerprint, "Q9W1-DFWF-077Y-MGA1-83F55"));
    assert_false(fingerprint_is(fingerprint, "Q9W1-DFWF-077Y-MGA1-83F6"));
    assert_false(fingerprint_is(fingerprint, "R9W1-DFWF-077Y-MGA1-83F5"));
    assert_false(fingerprint_is(fingerprint, ""));
    assert_false(fingerprint_is("", ""));
}

/* ---- requests */

static void a_request_comes_back_with_all_that_it_says(void **state)
{
    struct evp_pkey_st *key = key_of(*state);
    struct token_request request = wish("alice@campus"), found;
    uint8_t point[P256_POINT_BYTES];
    char *text = printed(&request, key), *mailed = NULL;
    struct strbuf mail;
    p256_point(key, point);
    strbuf_init(&mail, 0);
    strbuf_printf(&mail, "Hello,\r\nplease:\r\n\r\n");
    for (const char *at = text; *at != '\0'; at++) {
        strbuf_puts(&mail, *at == '\n' ? "  \r\n" : (char[2]){*at, '\0'});
    }
    strbuf_puts(&mail, "\n-- \nAlice\n");
    mailed = strbuf_take(&mail);
    assert_int_equal(token_request_parse(mailed, &found, NULL), 0);
    assert_string_equal(found.identity, "alice@campus");
    assert_string_equal(found.pool, "pool");
    assert_string_equal(found.pattern, "wn*");
    assert_int_equal(found.scopes, SCOPE_READ | SCOPE_ADVERTISE);
    assert_int_equal(found.slots, 800);
    assert_int_equal(found.lifetime_s, 86400);
    assert_memory_equal(found.point, point, sizeof point);
    mem_free(mailed);
    mem_free(text);
    request = (struct token_request){.identity = "bob"};
    text = printed(&request, key);
    assert_int_equal(token_request_parse(text, &found, NULL), 0);
    assert_string_equal(found.identity, "bob");
    assert_string_equal(found.pool, "");
    assert_int_equal(found.scopes, 0);
    assert_int_equal(found.slots, 0);
    assert_int_equal(found.lifetime_s, 0);
    mem_free(text);
    p256_free(key);
}

static void no_line_fits_badly_into_a_mail(void **state)
{
    struct evp_pkey_st *key = key_of(*state);
    struct token_request request = wish("alice@campus");
    char *text = printed(&request, key);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        assert_true(strcspn(at, "\n") <= 72);
    }
    mem_free(text);
    p256_free(key);
}

static void whatever_is_altered_on_the_way_is_refused(void **state)
{
    static const struct {
        const char *from, *to;
    } ALTERED[] = {
        {"alice@campus", "admin@campus"},
        {"READ,ADVERTISE", "READ,WRITE"},
        {"Pool: pool", "Pool: loop"},
        {"Names: wn*", "Names: *"},
        {"Slots: 800", "Slots: 801"},
        {"Seconds: 86400", "Seconds: 86401"},
        {"Names: wn*\n", ""},
        {"Slots: 800\n", ""},
        {"Seconds: 86400\n", ""},
        {"Pool: pool\n", ""},
        {"Scopes: READ,ADVERTISE\n", ""},
    };
    struct evp_pkey_st *key = key_of(*state);
    struct token_request request = wish("alice@campus");
    char *text = printed(&request, key);
    for (size_t i = 0; i < ARRAY_COUNT(ALTERED); i++) {
        char *altered = replaced(text, ALTERED[i].from, ALTERED[i].to);
        refused(altered, -EKEYREJECTED, "bad proof");
        mem_free(altered);
    }
    mem_free(text);
    p256_free(key);
}

static void the_key_of_another_needs_the_proof_of_another(void **state)
{
    struct evp_pkey_st *key = key_of(*state), *thief = key_of(*state);
    struct token_request request = wish("alice@campus");
    char *text = printed(&request, key), *other = printed(&request, thief);
    /* The thief's request with the holder's proof, and the other way round. */
    char *mixed = replaced(text, strstr(text, "Proof:"), strstr(other, "Proof:"));
    refused(mixed, -EKEYREJECTED, "bad proof");
    mem_free(mixed);
    mixed = replaced(other, strstr(other, "Proof:"), strstr(text, "Proof:"));
    refused(mixed, -EKEYREJECTED, "bad proof");
    mem_free(mixed);
    mem_free(text);
    mem_free(other);
    p256_free(key);
    p256_free(thief);
}

static void each_wish_and_each_key_has_a_fingerprint_of_its_own(void **state)
{
    struct evp_pkey_st *key = key_of(*state), *thief = key_of(*state);
    struct token_request request[8];
    char seen[ARRAY_COUNT(request)][FINGERPRINT_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(request); i++) {
        request[i] = wish("alice@campus");
        p256_point(i == 1 ? thief : key, request[i].point);
    }
    (void)snprintf(request[2].identity, sizeof request[2].identity, "bob@campus");
    request[3].scopes |= SCOPE_WRITE;
    request[4].slots++;
    request[5].lifetime_s++;
    request[6].pattern[0] = '\0';
    request[7].pool[0] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(request); i++) {
        token_request_fingerprint(&request[i], seen[i]);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(seen[i], seen[k]);
        }
    }
    p256_free(key);
    p256_free(thief);
}

static void a_request_that_is_malformed_is_refused_by_its_line(void **state)
{
    static const struct {
        const char *from, *to, *why;
        int code;
    } BAD[] = {
        {"-----BEGIN", "----BEGIN", "no line '-----BEGIN ROOST TOKEN REQUEST-----'", -ENOENT},
        {"BEGIN ROOST TOKEN REQUEST", "BEGIN ROOST TOKEN ANSWER", "expected a request", -ENOENT},
        {"-----END ROOST TOKEN REQUEST-----\n", "",
         "the last line is missing; was the text cut off?", -EINVAL},
        {"Slots: 800", "Slots: 0800", "line 6: the value of 'Slots' is not a number from 1",
         -EINVAL},
        {"Slots: 800", "Slots: 0", "line 6: the value of 'Slots'", -EINVAL},
        {"Slots: 800", "Slots: 99999999999", "line 6: the value of 'Slots'", -EINVAL},
        {"Slots: 800", "Slots: ", "line 6: the value of 'Slots'", -EINVAL},
        {"Slots: 800", "slots: 800", "line 6: unknown line 'slots'", -EINVAL},
        {"Slots: 800", "Slots 800", "line 6: 'Slots 800' is not of the form 'Name: value'",
         -EINVAL},
        {"Slots: 800", "Slots: 800\nSlots: 800", "line 7: 'Slots' appears a second time", -EINVAL},
        {"Seconds: 86400", "Seconds: 315360001", "line 7: the value of 'Seconds'", -EINVAL},
        {"READ,ADVERTISE", "ADVERTISE,READ", "line 4: the value of 'Scopes' is not a list",
         -EINVAL},
        {"READ,ADVERTISE", "READ,ROOT", "line 4: the value of 'Scopes'", -EINVAL},
        {"READ,ADVERTISE", "", "line 4: the value of 'Scopes'", -EINVAL},
        {"alice@campus", "alice @campus", "line 2: the value of 'Identity'", -EINVAL},
        {"alice@campus",
         "al\xc3\xad"
         "ce@campus",
         "line 2: the value of 'Identity'", -EINVAL},
        {"alice@campus", "", "line 2: the value of 'Identity'", -EINVAL},
        {"Identity: alice@campus\n", "", "the line 'Identity' is missing", -EINVAL},
        {"Pool: pool", "Pool: po\x1b[2Jol", "line 3: the value of 'Pool'", -EINVAL},
        {"Key:\n ", "Key:\n A", "line 8: the value of 'Key' is not 64 bytes", -EINVAL},
        {"Identity:", " x\nIdentity:", "line 2: indented 'x' follows no 'Name: value' line",
         -EINVAL},
        {"Proof:", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\nProof:",
         "line 11: contains a private key", -EINVAL},
        {"Proof:", CA "Proof:", "line 11: unknown line 'CERTIFICATE' in a request", -EINVAL},
    };
    struct evp_pkey_st *key = key_of(*state);
    struct token_request request = wish("alice@campus");
    char *text = printed(&request, key);
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        char *bad = replaced(text, BAD[i].from, BAD[i].to);
        refused(bad, BAD[i].code, BAD[i].why);
        mem_free(bad);
    }
    struct strbuf more;
    strbuf_init(&more, 0);
    strbuf_printf(&more, "%s%s", text, text);
    refused(strbuf_text(&more), -EINVAL, "a second block begins");
    strbuf_clear(&more);
    strbuf_puts(&more, "-----BEGIN ROOST TOKEN REQUEST-----\n");
    for (int i = 0; i < 257; i++) {
        strbuf_puts(&more, "Slots: 1\n");
    }
    refused(strbuf_text(&more), -E2BIG, "more than 256 'Name: value' lines");
    strbuf_clear(&more);
    strbuf_puts(&more, "-----BEGIN ROOST TOKEN REQUEST-----\nKey:\n");
    for (int i = 0; i < 4100; i++) {
        strbuf_puts(&more, " A\n");
    }
    refused(strbuf_text(&more), -E2BIG, "the value of 'Key' is longer than 4096 bytes");
    strbuf_clear(&more);
    while (more.length <= TOKEN_REQUEST_TEXT_MAX) {
        strbuf_puts(&more, "mail\n");
    }
    strbuf_puts(&more, text);
    refused(strbuf_text(&more), -E2BIG, "longer than 262144 bytes");
    strbuf_fini(&more);
    mem_free(text);
    p256_free(key);
}

static void a_point_beside_the_curve_is_not_a_key(void **state)
{
    struct evp_pkey_st *key = key_of(*state);
    struct token_request request = wish("alice@campus");
    char *text = printed(&request, key), *at = strstr(text, "Key:\n ");
    at[6] = at[6] == 'A' ? 'B' : 'A';
    refused(text, -EINVAL, "not a public key of curve P-256");
    mem_free(text);
    p256_free(key);
}

static void what_no_line_can_hold_is_not_asked_for(void **state)
{
    struct evp_pkey_st *key = key_of(*state);
    struct token_request bad[] = {wish(""), wish("a b"), wish("a"), wish("a")};
    struct strbuf out;
    struct err err;
    (void)snprintf(bad[2].pattern, sizeof bad[2].pattern, "a\nScopes: ADMINISTRATOR");
    (void)snprintf(bad[3].pool, sizeof bad[3].pool, "a\nb");
    strbuf_init(&out, 0);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(token_request_print(&bad[i], key, &out, &err), -EINVAL);
        assert_int_equal(out.length, 0);
    }
    strbuf_fini(&out);
    p256_free(key);
}

/* ---- answers */

/* The pool's answer to that request. */
static void answer_make(struct world *world, const uint8_t point[P256_POINT_BYTES],
                        struct token_answer *ret)
{
    struct token token = world_token_of(world, "alice@campus", SCOPE_READ);
    char path[200], *pem = NULL;
    size_t length = 0;
    memcpy(token.holder, point, sizeof token.holder);
    *ret = (struct token_answer){.pool = mem_strdup("pool"),
                                 .collector = mem_strdup("cm.example:9618"),
                                 .token = world_issue_line(world, &token)};
    (void)snprintf(path, sizeof path, "%s/k1.pub", world->keys);
    MUST(os_read_file(world->os, path, 4096, &pem, &length, err));
    MUST(token_answer_add_key(ret, "k1", pem, err));
    MUST(token_answer_certificates("Certificate:\n  Data: CN = x\n" CA, &ret->ca, err));
    mem_free(pem);
}

static char *answer_text(const struct token_answer *answer)
{
    struct strbuf out;
    struct err err = {""};
    strbuf_init(&out, 0);
    if (token_answer_print(answer, &out, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return strbuf_take(&out);
}

static void an_answer_comes_back_and_is_good_for_its_request(void **state)
{
    struct world *world = *state;
    struct evp_pkey_st *key = key_of(world);
    struct token_request request = wish("alice@campus");
    struct token_answer answer, found;
    struct token token;
    char first[FINGERPRINT_SIZE], second[FINGERPRINT_SIZE];
    p256_point(key, request.point);
    answer_make(world, request.point, &answer);
    char *text = answer_text(&answer);
    assert_null(strstr(text, "PRIVATE"));
    MUST(token_answer_parse(text, &found, err));
    assert_string_equal(found.pool, "pool");
    assert_string_equal(found.collector, "cm.example:9618");
    assert_string_equal(found.token, answer.token);
    assert_string_equal(found.ca, CA);
    assert_int_equal(found.keys.count, 1);
    MUST(token_answer_check(&found, &request, world_now_s(world), &token, err));
    assert_string_equal(token.identity, "alice@campus");
    token_answer_fingerprint(&answer, request.point, first);
    token_answer_fingerprint(&found, request.point, second);
    assert_string_equal(first, second);
    mem_free(text);
    token_answer_fini(&answer);
    token_answer_fini(&found);
    p256_free(key);
}

static void a_changed_answer_has_another_fingerprint(void **state)
{
    struct world *world = *state;
    struct evp_pkey_st *key = key_of(world);
    struct token_request request = wish("alice@campus");
    struct token_answer answer;
    char seen[6][FINGERPRINT_SIZE];
    p256_point(key, request.point);
    answer_make(world, request.point, &answer);
    token_answer_fingerprint(&answer, request.point, seen[0]);
    answer.pool[0] = 'P';
    token_answer_fingerprint(&answer, request.point, seen[1]);
    answer.collector[0] = 'C';
    token_answer_fingerprint(&answer, request.point, seen[2]);
    answer.ca[40] = answer.ca[40] == 'A' ? 'B' : 'A';
    token_answer_fingerprint(&answer, request.point, seen[3]);
    answer.token[20]++;
    token_answer_fingerprint(&answer, request.point, seen[4]);
    ((struct token_answer_key *)answer.keys.items[0])->kid[0] = 'K';
    token_answer_fingerprint(&answer, request.point, seen[5]);
    for (size_t i = 0; i < ARRAY_COUNT(seen); i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(seen[i], seen[k]);
        }
    }
    token_answer_fini(&answer);
    p256_free(key);
}

static void unfit(struct world *world, const struct token_answer *answer,
                  const struct token_request *request, int64_t now_s, int code, const char *why)
{
    struct token token = {.identity = "untouched"};
    struct err err = {""};
    (void)world;
    assert_int_equal(token_answer_check(answer, request, now_s, &token, &err), code);
    if (strstr(err.text, why) == NULL) {
        fail_msg("'%s' is not in '%s'", why, err.text);
    }
    assert_string_equal(token.identity, "untouched");
}

static void an_answer_to_somebody_else_is_refused(void **state)
{
    struct world *world = *state;
    struct evp_pkey_st *key = key_of(world), *other = key_of(world);
    struct token_request request = wish("alice@campus");
    struct token_answer answer;
    int64_t now_s = world_now_s(world);
    p256_point(other, request.point);
    answer_make(world, request.point, &answer);
    p256_point(key, request.point);
    unfit(world, &answer, &request, now_s, -EKEYREJECTED,
          "the token of alice@campus is bound to another key than the one made here");
    p256_point(other, request.point);
    (void)snprintf(request.pool, sizeof request.pool, "campus");
    unfit(world, &answer, &request, now_s, -EXDEV,
          "the answer is from pool 'pool', but the request was for pool 'campus'");
    request.pool[0] = '\0';
    assert_int_equal(token_answer_check(&answer, &request, now_s, &(struct token){.slots = 0},
                                        NULL),
                     0);
    answer.pool[0] = 'P';
    unfit(world, &answer, &request, now_s, -EXDEV,
          "the answer is from pool 'Pool', but its token is for pool 'pool'");
    answer.pool[0] = 'p';
    answer.token[strlen(answer.token) - 10] ^= 1;
    unfit(world, &answer, &request, now_s, -EKEYREJECTED, "token signature is wrong");
    token_answer_fini(&answer);
    p256_free(key);
    p256_free(other);
}

static void an_answer_that_is_malformed_is_refused_by_its_line(void **state)
{
    static const struct {
        const char *from, *to, *why;
        int code;
    } BAD[] = {
        {"BEGIN ROOST TOKEN ANSWER", "BEGIN ROOST TOKEN REQUEST", "expected an answer", -ENOENT},
        {"-----END ROOST TOKEN ANSWER-----\n", "",
         "the last line is missing; was the text cut off?", -EINVAL},
        {"Pool: pool\n", "", "the line 'Pool' is missing", -EINVAL},
        {"Pool: pool\n", "Pool: pool\nPool: pool\n", "line 3: 'Pool' appears a second time",
         -EINVAL},
        {"Collector: cm.example:9618\n", "", "the line 'Collector' is missing", -EINVAL},
        {"cm.example:9618", "a b", "line 3: the value of 'Collector'", -EINVAL},
        {"cm.example:9618", "a\";X=\"", "line 3: the value of 'Collector'", -EINVAL},
        {"cm.example:9618", "$(HOME)", "line 3: the value of 'Collector'", -EINVAL},
        {"Token:\n", "Tocken:\n", "line 4: unknown line 'Tocken' in an answer", -EINVAL},
        {CA, "", "the certificate of the pool's CA is missing", -EINVAL},
        {"Kid: k1\n", "", "a public key without its 'Kid'", -EINVAL},
        {"Kid: k1\n", "Kid: ../k1\n", "'../k1' is not a valid name for a signing key", -EINVAL},
        {"Kid: k1\n", "Kid: k1\n" CA, "no public key follows this 'Kid'", -EINVAL},
        {"-----BEGIN PUBLIC KEY-----", "-----BEGIN PRIVATE KEY-----", "a private key", -EINVAL},
        {"-----BEGIN PUBLIC KEY-----", "-----BEGIN EC PRIVATE KEY-----", "a private key", -EINVAL},
        {"-----BEGIN PUBLIC KEY-----", "-----BEGIN X-----", "unexpected block 'X'", -EINVAL},
        {"-----END PUBLIC KEY-----\n", "", "not a valid line of a PEM block 'PUBLIC KEY'", -EINVAL},
        {"-----END PUBLIC KEY-----\n-----END ROOST TOKEN ANSWER-----\n", "",
         "the block 'PUBLIC KEY' is not closed", -EINVAL},
    };
    struct world *world = *state;
    struct token_answer answer, found = {.pool = NULL};
    static const uint8_t POINT[P256_POINT_BYTES] = {1};
    struct err err;
    answer_make(world, POINT, &answer);
    char *text = answer_text(&answer);
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        char *bad = replaced(text, BAD[i].from, BAD[i].to);
        assert_int_equal(token_answer_parse(bad, &found, &err), BAD[i].code);
        if (strstr(err.text, BAD[i].why) == NULL) {
            fail_msg("'%s' is not in '%s'", BAD[i].why, err.text);
        }
        assert_null(found.pool);
        mem_free(bad);
    }
    mem_free(text);
    token_answer_fini(&answer);
}

static void an_answer_has_keys_of_different_names_each_one_key(void **state)
{
    struct world *world = *state;
    struct token_answer answer;
    static const uint8_t POINT[P256_POINT_BYTES] = {1};
    struct err err;
    char *ca = NULL;
    answer_make(world, POINT, &answer);
    const char *pem = ((struct token_answer_key *)answer.keys.items[0])->pem;
    assert_int_equal(token_answer_add_key(&answer, "k1", pem, &err), -EINVAL);
    assert_non_null(strstr(err.text, "a second signing key 'k1'"));
    assert_int_equal(token_answer_add_key(&answer, "k2", CA, &err), -EINVAL);
    assert_non_null(strstr(err.text, "signing key 'k2' is not one public key"));
    assert_int_equal(token_answer_add_key(&answer, "k/2", pem, &err), -EINVAL);
    struct strbuf two;
    strbuf_init(&two, 0);
    strbuf_printf(&two, "%s%s", pem, pem);
    assert_int_equal(token_answer_add_key(&answer, "k2", strbuf_text(&two), &err), -EINVAL);
    assert_non_null(strstr(err.text, "signing key 'k2' is not one public key"));
    strbuf_fini(&two);
    assert_int_equal(token_answer_certificates(pem, &ca, &err), -EINVAL);
    assert_null(ca);
    assert_int_equal(answer.keys.count, 1);
    char kid[16];
    for (int i = 2; i <= TOKEN_KEYS_MAX; i++) {
        (void)snprintf(kid, sizeof kid, "k%d", i);
        assert_int_equal(token_answer_add_key(&answer, kid, pem, &err), 0);
    }
    assert_int_equal(token_answer_add_key(&answer, "more", pem, &err), -E2BIG);
    token_answer_fini(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fingerprint_is_a_hundred_bits_of_the_digest),
        cmocka_unit_test(what_is_typed_may_look_otherwise_but_is_all_of_it),
        WORLD_TEST(a_request_comes_back_with_all_that_it_says),
        WORLD_TEST(no_line_fits_badly_into_a_mail),
        WORLD_TEST(whatever_is_altered_on_the_way_is_refused),
        WORLD_TEST(the_key_of_another_needs_the_proof_of_another),
        WORLD_TEST(each_wish_and_each_key_has_a_fingerprint_of_its_own),
        WORLD_TEST(a_request_that_is_malformed_is_refused_by_its_line),
        WORLD_TEST(a_point_beside_the_curve_is_not_a_key),
        WORLD_TEST(what_no_line_can_hold_is_not_asked_for),
        WORLD_TEST(an_answer_comes_back_and_is_good_for_its_request),
        WORLD_TEST(a_changed_answer_has_another_fingerprint),
        WORLD_TEST(an_answer_to_somebody_else_is_refused),
        WORLD_TEST(an_answer_that_is_malformed_is_refused_by_its_line),
        WORLD_TEST(an_answer_has_keys_of_different_names_each_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
