/* The file of tokens that were made here, and its listing.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include <sys/types.h>

#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "cli/token/token_ledger.h"
#include "cli/token/token_show_plan.h"
#include "wire/token.h"
#include "wire/verbs.h"

struct fixture {
    struct loop *loop;
    struct os *os;
    char dir[64], path[96];
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/roost_ledger_XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    (void)snprintf(f->path, sizeof f->path, "%s/issued.ads", f->dir);
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    assert_int_equal(os_create(f->loop, &f->os, NULL), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    (void)os_remove_tree(f->os, f->dir, NULL); /* a leftover in /tmp harms nobody */
    os_destroy(f->os);
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

static void add(struct fixture *f, const char *id, const char *identity)
{
    struct token token = {.scopes = SCOPE_READ | SCOPE_WRITE, .issued_s = 1000, .expires_s = 2000};
    (void)snprintf(token.id, sizeof token.id, "%s", id);
    (void)snprintf(token.identity, sizeof token.identity, "%s", identity);
    assert_int_equal(token_ledger_add(f->os, f->path, &token, &(struct token_origin){.file = NULL},
                                      NULL),
                     0);
}

static void read_all(struct fixture *f, struct vec *ads)
{
    *ads = (struct vec){0};
    assert_int_equal(token_ledger_read(f->os, f->path, ads, NULL), 0);
}

static void what_is_noted_is_read_back_oldest_first(void **state)
{
    struct fixture *f = *state;
    struct vec ads;
    read_all(f, &ads);
    assert_int_equal(ads.count, 0);
    add(f, "t1", "alice@pool");
    add(f, "t2", "bob@pool");
    read_all(f, &ads);
    assert_int_equal(ads.count, 2);
    assert_string_equal(ad_string_or(ads.items[0], "Id", ""), "t1");
    assert_string_equal(ad_string_or(ads.items[1], "Identity", ""), "bob@pool");
    assert_string_equal(ad_string_or(ads.items[1], "Scopes", ""), "READ,WRITE");
    assert_int_equal(ad_int_or(ads.items[1], "Expires", 0), 2000);
    assert_false(ad_bool_or(ads.items[1], "Revoked", true));
    vec_fini(&ads, ads_destroy_one);
}

static void only_the_owner_may_read_it(void **state)
{
    struct fixture *f = *state;
    struct os_stat stat;
    add(f, "t1", "alice@pool");
    assert_int_equal(os_stat(f->os, f->path, &stat), 0);
    assert_int_equal(stat.mode & 0777, 0600);
}

static void revoking_is_noted_once_and_for_one(void **state)
{
    struct fixture *f = *state;
    struct vec ads;
    add(f, "t1", "alice@pool");
    add(f, "t2", "bob@pool");
    assert_int_equal(token_ledger_revoke(f->os, f->path, "t2", 1500, NULL), 0);
    assert_int_equal(token_ledger_revoke(f->os, f->path, "t2", 1600, NULL), 0);
    read_all(f, &ads);
    assert_false(ad_bool_or(ads.items[0], "Revoked", true));
    assert_true(ad_bool_or(ads.items[1], "Revoked", false));
    assert_int_equal(ad_int_or(ads.items[1], "RevokedTime", 0), 1500);
    vec_fini(&ads, ads_destroy_one);
}

static void an_id_that_was_not_made_here_is_named(void **state)
{
    struct fixture *f = *state;
    struct err err;
    add(f, "t1", "alice@pool");
    assert_int_equal(token_ledger_revoke(f->os, f->path, "t9", 1500, &err), -ENOENT);
    assert_non_null(strstr(err.text, "t9"));
}

static void a_damaged_line_is_named_and_nothing_is_written(void **state)
{
    struct fixture *f = *state;
    struct vec ads = {0};
    struct err err;
    static const char TEXT[] = "[ Id = \"t1\" ]\nnonsense\n";
    const struct token token = {.id = "t2"};
    assert_int_equal(os_write_file(f->os, f->path, TEXT, sizeof TEXT - 1, 0600, false, NULL), 0);
    assert_int_equal(token_ledger_read(f->os, f->path, &ads, &err), -EINVAL);
    assert_non_null(strstr(err.text, "issued.ads:2"));
    assert_int_equal(token_ledger_add(f->os, f->path, &token, &(struct token_origin){.file = NULL},
                                      &err),
                     -EINVAL);
    char *text;
    size_t length;
    assert_int_equal(os_read_file(f->os, f->path, 1000, &text, &length, NULL), 0);
    assert_string_equal(text, TEXT);
    mem_free(text);
}

static void the_listing_says_how_long_each_is_good(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct ad_context context = {.now_s = 1795166147};
    ads_add(&ads, "[Id = \"t1\"; Identity = \"alice@pool\"; Scopes = \"READ\"; Pattern = \"wn*\";"
                  " Issued = 1795166140; Expires = 1795252607]");
    ads_add(&ads, "[Id = \"t2\"; Identity = \"b@pool\"; Scopes = \"READ\"; Issued = 1795166140;"
                  " Expires = 1795166147]");
    ads_add(&ads, "[Id = \"t3\"; Identity = \"b@pool\"; Scopes = \"READ\"; Issued = 1795166140;"
                  " Expires = 0]");
    ads_add(&ads, "[Id = \"t4\"; Identity = \"b@pool\"; Scopes = \"READ\"; Issued = 1795166140;"
                  " Expires = 0; Revoked = true]");
    strbuf_init(&out, 0);
    token_show_list(ads_list(&ads), ads.count, &context, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(
        &out,
        "Id                                   Identity             Scopes     Names Issued      "
        "Expires\n"
        "\n"
        "t1                                   alice@pool           READ       wn*   11/20 09:15 "
        "in 1+00:01:00\n"
        "t2                                   b@pool               READ             11/20 09:15 "
        "expired\n"
        "t3                                   b@pool               READ             11/20 09:15 "
        "never\n"
        "t4                                   b@pool               READ             11/20 09:15 "
        "revoked\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT_TESTS(TEST(what_is_noted_is_read_back_oldest_first), TEST(only_the_owner_may_read_it),
           TEST(revoking_is_noted_once_and_for_one), TEST(an_id_that_was_not_made_here_is_named),
           TEST(a_damaged_line_is_named_and_nothing_is_written),
           UNIT(the_listing_says_how_long_each_is_good))
