/* The claims that an older startd left behind: tests/stores/data/startd_1.db.
 *
 * LINK: startd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/fast_dir.h"
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "startd/claim/old_claims.h"
#include "store/store_db.h"

static const char *const TABLES[] = {"claims", NULL};

struct claims {
    char keys[4][128];
    struct ad *ads[4];
    size_t count;
};

static int keep_claim(void *arg, const char *key, const void *value, size_t length)
{
    struct claims *claims = arg;
    assert_true(claims->count < ARRAY_COUNT(claims->ads));
    (void)snprintf(claims->keys[claims->count], sizeof(claims->keys[0]), "%s", key);
    assert_int_equal(ad_decode(value, length, NULL, &claims->ads[claims->count++], NULL), 0);
    return 0;
}

static void read_claims(const char *path, const struct store_schema *schema, struct claims *claims)
{
    struct store_db *db = NULL;
    struct err err = {{0}};
    *claims = (struct claims){.count = 0};
    if (store_db_open(path, NULL, schema, &db, &err) != 0 ||
        store_db_walk(db, 0, NULL, NULL, false, SIZE_MAX, keep_claim, claims, &err) < 0) {
        fail_msg("%s", err.text);
    }
    store_db_close(db);
}

static void claims_fini(struct claims *claims)
{
    for (size_t i = 0; i < claims->count; i++) {
        ad_destroy(claims->ads[i]);
    }
}

static void copy_store(struct os *os, const char *to)
{
    char from[512];
    char *bytes = NULL;
    size_t length = 0;
    const char *source = getenv("ROOST_SRC");
    (void)snprintf(from, sizeof(from), "%s/tests/stores/data/startd_1.db",
                   source != NULL ? source : ".");
    assert_int_equal(os_read_file(os, from, 1 << 20, &bytes, &length, NULL), 0);
    assert_int_equal(os_write_file(os, to, bytes, length, 0600, false, NULL), 0);
    mem_free(bytes);
}

static void claim_ids_leave_the_ads_of_old_claims(void **state)
{
    (void)state;
    static const struct store_schema OLD = {.daemon = "startd", .tables = TABLES, .version = 1};
    static const struct store_schema NEW = {.daemon = "startd",
                                            .tables = TABLES,
                                            .migrations = STARTD_OLD_ROWS,
                                            .version = STARTD_STORE_VERSION};
    char dir[FAST_DIR_SIZE], path[FAST_DIR_SIZE + 16];
    struct loop *loop = NULL;
    struct os *os = NULL;
    struct claims before, after;
    assert_int_equal(loop_create(&loop, NULL), 0);
    assert_int_equal(os_create(loop, &os, NULL), 0);
    assert_true(fast_dir_make(dir));
    (void)snprintf(path, sizeof(path), "%s/startd.db", dir);
    copy_store(os, path);
    read_claims(path, &OLD, &before);
    read_claims(path, &NEW, &after);
    assert_int_equal(before.count, 2);
    assert_int_equal(after.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(ad_string_or(before.ads[i], OLD_CLAIM_ID, ""), before.keys[i]);
        assert_string_equal(after.keys[i], before.keys[i]);
        assert_false(ad_has(after.ads[i], OLD_CLAIM_ID));
        ad_remove(before.ads[i], OLD_CLAIM_ID);
        assert_true(ad_same(before.ads[i], after.ads[i]));
    }
    claims_fini(&before);
    claims_fini(&after);
    (void)os_remove_tree(os, dir, NULL); /* a leftover harms nobody */
    os_destroy(os);
    loop_destroy(loop);
}

UNIT_TESTS(UNIT(claim_ids_leave_the_ads_of_old_claims))
