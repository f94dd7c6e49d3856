/* What a token that was asked for gives.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include <errno.h>

#include "base/err.h"
#include "cli/token/token_terms_plan.h"

enum { READS = 1, WRITES = 2, ADVERTISES = 4, RULES = 8, MATCHES = 16 };

/* "READS,WRITES", in this order. */
static const char *names(uint32_t scopes, char *ret, unsigned size)
{
    static const char *const NAMES[] = {"READS", "WRITES", "ADVERTISES", "RULES", "MATCHES"};
    struct strbuf out;
    strbuf_init(&out, 0);
    for (unsigned i = 0; i < 5; i++) {
        if ((scopes >> i & 1) != 0) {
            strbuf_printf(&out, "%s%s", out.length > 0 ? "," : "", NAMES[i]);
        }
    }
    (void)snprintf(ret, size, "%s", strbuf_text(&out));
    strbuf_fini(&out);
    return ret;
}

static const struct token_rules POOL_RULES = {.domain = "campus",
                                              .may_ask = READS | WRITES | ADVERTISES,
                                              .scopes = READS | WRITES,
                                              .lifetime_s = 365 * 86400,
                                              .names = names};

static struct token_terms granted(struct token_terms asked, struct token_terms said)
{
    struct token_terms given = {.slots = 0};
    struct err err = {""};
    if (token_terms_grant(&asked, &said, &POOL_RULES, &given, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return given;
}

static void refused(struct token_terms asked, struct token_terms said, int code, const char *why)
{
    struct token_terms given = {.identity = "untouched"};
    struct err err = {""};
    assert_int_equal(token_terms_grant(&asked, &said, &POOL_RULES, &given, &err), code);
    assert_string_equal(err.text, why);
    assert_string_equal(given.identity, "untouched");
}

static void what_is_asked_for_is_taken_where_nothing_is_said(void **state)
{
    (void)state;
    struct token_terms given = granted((struct token_terms){.identity = "alice@lab",
                                                            .pattern = "wn*",
                                                            .scopes = READS | ADVERTISES,
                                                            .slots = 8,
                                                            .lifetime_s = 86400},
                                       (struct token_terms){.slots = 0});
    assert_string_equal(given.identity, "alice@lab");
    assert_string_equal(given.pattern, "wn*");
    assert_int_equal(given.scopes, READS | ADVERTISES);
    assert_int_equal(given.slots, 8);
    assert_int_equal(given.lifetime_s, 86400);
}

static void what_nobody_says_is_as_of_every_token(void **state)
{
    (void)state;
    struct token_terms given =
        granted((struct token_terms){.identity = "alice"}, (struct token_terms){.slots = 0});
    assert_string_equal(given.identity, "alice@campus");
    assert_string_equal(given.pattern, "");
    assert_int_equal(given.scopes, READS | WRITES);
    assert_int_equal(given.slots, 0);
    assert_int_equal(given.lifetime_s, 365 * 86400);
}

static void what_the_administrator_says_rules(void **state)
{
    (void)state;
    struct token_terms given = granted((struct token_terms){.identity = "root@campus",
                                                            .pattern = "*",
                                                            .scopes = READS | WRITES | RULES,
                                                            .slots = 1000000,
                                                            .lifetime_s = 3650 * (int64_t)86400},
                                       (struct token_terms){.identity = "alice",
                                                            .pattern = "wn1",
                                                            .scopes = ADVERTISES,
                                                            .slots = 2,
                                                            .lifetime_s = 60,
                                                            .says_lifetime = true});
    assert_string_equal(given.identity, "alice@campus");
    assert_string_equal(given.pattern, "wn1");
    assert_int_equal(given.scopes, ADVERTISES);
    assert_int_equal(given.slots, 2);
    assert_int_equal(given.lifetime_s, 60);
    given = granted((struct token_terms){.identity = "alice", .lifetime_s = 60},
                    (struct token_terms){.scopes = RULES | MATCHES, .says_lifetime = true});
    assert_int_equal(given.scopes, RULES | MATCHES);
    assert_int_equal(given.lifetime_s, 0); /* for ever: he said so */
}

static void a_request_alone_gives_no_more_than_its_holder_is(void **state)
{
    (void)state;
    refused((struct token_terms){.identity = "alice", .scopes = READS | RULES},
            (struct token_terms){.slots = 0}, -EPERM,
            "the request asks for RULES, which needs the administrator's consent: name the scopes "
            "to give (--scope READS,RULES)");
    refused((struct token_terms){.identity = "alice", .scopes = MATCHES},
            (struct token_terms){.identity = "bob", .slots = 7}, -EPERM,
            "the request asks for MATCHES, which needs the administrator's consent: name the "
            "scopes to give (--scope MATCHES)");
    refused((struct token_terms){.identity = "alice", .lifetime_s = 365 * 86400 + 1},
            (struct token_terms){.slots = 0}, -EPERM,
            "the request asks for 366 days, and a request alone gives at most 365; set the time "
            "(--expires)");
}

static void an_identity_that_its_domain_makes_too_long_is_refused(void **state)
{
    (void)state;
    struct token_terms asked = {.slots = 0}, given;
    memset(asked.identity, 'a', 249); /* and "@campus": 256 bytes, without the zero */
    assert_int_equal(token_terms_grant(&asked, &(struct token_terms){.slots = 0}, &POOL_RULES,
                                       &given, NULL),
                     -ENAMETOOLONG);
    asked.identity[248] = '\0';
    assert_int_equal(token_terms_grant(&asked, &(struct token_terms){.slots = 0}, &POOL_RULES,
                                       &given, NULL),
                     0);
    assert_int_equal(strlen(given.identity), 255);
}

static void what_differs_from_the_wish_is_shown_with_it(void **state)
{
    (void)state;
    struct token_terms asked = {.identity = "alice", .scopes = READS};
    struct token_terms given = {.identity = "alice@campus", .scopes = READS};
    struct strbuf out;
    strbuf_init(&out, 0);
    token_terms_show(&asked, &given, names, &out);
    ads_expect(&out, "  identity  alice@campus   (asked: alice)\n"
                     "  scopes    READS\n"
                     "  names     any\n"
                     "  slots     64 of each machine\n"
                     "  expires   never\n");
    asked = (struct token_terms){.identity = "root@campus",
                                 .pattern = "*",
                                 .scopes = READS | RULES,
                                 .slots = 1000,
                                 .lifetime_s = 86400};
    given = (struct token_terms){.identity = "alice@campus",
                                 .pattern = "wn1",
                                 .scopes = ADVERTISES,
                                 .slots = 2,
                                 .lifetime_s = 5400};
    strbuf_init(&out, 0);
    token_terms_show(&asked, &given, names, &out);
    ads_expect(&out, "  identity  alice@campus   (asked: root@campus)\n"
                     "  scopes    ADVERTISES   (asked: READS,RULES)\n"
                     "  names     wn1   (asked: *)\n"
                     "  slots     2   (asked: 1000)\n"
                     "  expires   in 1h30m   (asked: in 1 day)\n");
    given = asked;
    given.lifetime_s = 59;
    strbuf_init(&out, 0);
    token_terms_show(&given, &given, names, &out);
    ads_expect(&out, "  identity  root@campus\n"
                     "  scopes    READS,RULES\n"
                     "  names     *\n"
                     "  slots     1000\n"
                     "  expires   in 59 s\n");
}

static void nothing_that_is_shown_moves_the_cursor(void **state)
{
    (void)state;
    struct token_terms terms = {.identity = "a\x1b[2Jb\xc2\x9b@x", .scopes = READS};
    struct strbuf out;
    strbuf_init(&out, 0);
    token_terms_show(&terms, &terms, names, &out);
    assert_null(strchr(strbuf_text(&out), '\x1b'));
    assert_null(strstr(strbuf_text(&out), "\xc2\x9b"));
    strbuf_clear(&out);
    token_terms_line("pool", "one\ntwo\x1b", &out);
    ads_expect(&out, "  pool      one?two?\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for_is_taken_where_nothing_is_said),
        cmocka_unit_test(what_nobody_says_is_as_of_every_token),
        cmocka_unit_test(what_the_administrator_says_rules),
        cmocka_unit_test(a_request_alone_gives_no_more_than_its_holder_is),
        cmocka_unit_test(an_identity_that_its_domain_makes_too_long_is_refused),
        cmocka_unit_test(what_differs_from_the_wish_is_shown_with_it),
        cmocka_unit_test(nothing_that_is_shown_moves_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
