/* A queue that an older schedd left behind: tests/stores/data/schedd_1.db.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

#include "base/check.h"
#include "schedd/queue/old_rows.h"
#include "store/store_db.h"

static const char *const TABLES_1[] = {"jobs", "history", "claims", NULL};
static const char *const TABLES_2[] = {"jobs", "history", "claims", "nonces", NULL};

/* Rows of one table: key, and the value as bytes. */
struct rows {
    char keys[8][128];
    struct strbuf values[8];
    size_t count;
};

static int keep_row(void *arg, const char *key, const void *value, size_t length)
{
    struct rows *rows = arg;
    assert_true(rows->count < ARRAY_COUNT(rows->keys));
    (void)snprintf(rows->keys[rows->count], sizeof(rows->keys[0]), "%s", key);
    strbuf_init(&rows->values[rows->count], 0);
    strbuf_append(&rows->values[rows->count++], value, length);
    return 0;
}

static void rows_fini(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        strbuf_fini(&rows->values[i]);
    }
    *rows = (struct rows){0};
}

static void read_rows(const struct world *world, const struct store_schema *schema,
                      const char *table, struct rows *rows)
{
    char path[128];
    struct store_db *db = NULL;
    struct err err = {{0}};
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.db", world->dir);
    *rows = (struct rows){0};
    if (store_db_open(path, NULL, schema, &db, &err) != 0 ||
        store_db_walk(db, store_db_table(db, table), NULL, NULL, false, SIZE_MAX, keep_row, rows,
                      &err) < 0) {
        fail_msg("%s", err.text);
    }
    store_db_close(db);
}

/* Ends the schedd and puts the old store in the place of its own. */
static void bring_old_store(struct world *world)
{
    char from[512], to[128];
    char *bytes = NULL;
    size_t length = 0;
    const char *source = getenv("ROOST_SRC");
    daemon_run_destroy(world->run);
    world->run = NULL;
    (void)snprintf(from, sizeof(from), "%s/tests/stores/data/schedd_1.db",
                   source != NULL ? source : ".");
    assert_int_equal(os_read_file(world->os, from, 1 << 20, &bytes, &length, NULL), 0);
    (void)snprintf(to, sizeof(to), "%s/spool/schedd.db-wal", world->dir);
    (void)unlink(to); /* where there is one */
    (void)snprintf(to, sizeof(to), "%s/spool/schedd.db", world->dir);
    assert_int_equal(os_write_file(world->os, to, bytes, length, 0600, false, NULL), 0);
    mem_free(bytes);
}

static bool holds(const struct strbuf *bytes, const char *text)
{
    return memmem(bytes->data, bytes->length, text, strlen(text)) != NULL;
}

static void what_proves_a_run_leaves_the_ads_of_an_old_queue(void **state)
{
    static const struct store_schema OLD = {.daemon = "schedd", .tables = TABLES_1, .version = 1};
    static const struct store_schema NEW = {.daemon = "schedd",
                                            .tables = TABLES_2,
                                            .migrations = OLD_ROWS,
                                            .version = SCHEDD_STORE_VERSION};
    struct world *world = *state;
    struct rows before, after, nonces;
    bring_old_store(world);
    read_rows(world, &OLD, "jobs", &before);
    read_rows(world, &NEW, "jobs", &after);
    read_rows(world, &NEW, "nonces", &nonces);
    assert_int_equal(before.count, 3);
    assert_int_equal(after.count, 3);
    assert_int_equal(nonces.count, 2);
    for (size_t i = 0; i < 2; i++) { /* 2.1 and 3.0: 1.0 had none any more */
        struct ad *old = NULL;
        const struct strbuf *bytes = &before.values[i + 1];
        assert_string_equal(nonces.keys[i], before.keys[i + 1]);
        assert_int_equal(ad_decode(bytes->data, bytes->length, NULL, &old, NULL), 0);
        assert_int_equal(nonces.values[i].length, 32);
        assert_string_equal(strbuf_text(&nonces.values[i]),
                            ad_string_or(old, "_roost_priv_Nonce", ""));
        assert_true(holds(bytes, "ClaimId"));
        assert_true(holds(bytes, "_roost_priv"));
        ad_destroy(old);
    }
    for (size_t i = 0; i < after.count; i++) {
        assert_false(holds(&after.values[i], "ClaimId"));
        assert_false(holds(&after.values[i], "_roost_priv"));
    }
    rows_fini(&before);
    rows_fini(&after);
    rows_fini(&nonces);
    read_rows(world, &NEW, "history", &after);
    assert_int_equal(after.count, 1);
    assert_false(holds(&after.values[0], "_roost_priv"));
    rows_fini(&after);
}

static void an_old_queue_goes_on(void **state)
{
    struct world *world = *state;
    struct answer answer;
    bring_old_store(world);
    start(world);
    count_is(world, "[Type = \"Job\"]", 3);
    count_is(world, "[Type = \"Job\"; Constraint = \"size(_roost_priv_Nonce) == 32\"]", 0);
    count_is(world, "[Type = \"Job\"; Constraint = \"ClaimId =!= undefined\"]", 0);
    query(world, "[Type = \"Job\"; Ids = {\"2.1\"}]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 7);
    assert_int_equal(ad_int_or(answer.ads.items[0], "RunSuspensions", 0), 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "LoggedImageSize", 0), 2500);
    answer_fini(&answer);
    count_is(world, "[Type = \"History\"; Constraint = \"ClusterId == 2 && ProcId == 0\"]", 1);
    act(world, "[Action = \"Remove\"; Constraint = \"true\"]", "Success", 3);
    count_is(world, "[Type = \"Job\"]", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_proves_a_run_leaves_the_ads_of_an_old_queue),
        CASE(an_old_queue_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
