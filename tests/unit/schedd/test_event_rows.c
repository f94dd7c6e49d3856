/* Rows of events that wait for the owner's shadow, which never comes here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

#include "base/check.h"
#include "eventlog/log_append.h"
#include "schedd/queue/old_rows.h"
#include "store/store_db.h"

struct found {
    size_t rows, events;
    char paths[8][32];
};

static int take_row(void *arg, const char *key, const void *value, size_t length)
{
    struct found *found = arg;
    struct ad *ad = NULL;
    size_t lengths[LOG_APPEND_ITEMS_MAX];
    (void)key;
    assert_int_equal(ad_decode(value, length, NULL, &ad, NULL), 0);
    const char *text = ad_string_or(ad, "Text", "");
    size_t count = log_append_split(text, ad_string_or(ad, "Sizes", ""), lengths);
    for (size_t i = 0; i < count; i++) { /* each is whole */
        assert_int_equal(strncmp(text, "000 (", 5), 0);
        assert_int_equal(strncmp(text + lengths[i] - 4, "...\n", 4), 0);
        text += lengths[i];
    }
    assert_true(found->rows < ARRAY_COUNT(found->paths));
    const char *slash = strrchr(ad_string_or(ad, "Path", ""), '/');
    (void)snprintf(found->paths[found->rows], sizeof found->paths[0], "%s", slash);
    found->rows++;
    found->events += count;
    ad_destroy(ad);
    return 0;
}

/* Ends the schedd and reads what it left behind. */
static struct found rows_left(struct world *world)
{
    static const char *const TABLES[] = {"events", NULL};
    static const struct store_schema SCHEMA = {.daemon = "schedd",
                                               .tables = TABLES,
                                               .version = SCHEDD_STORE_VERSION};
    struct found found = {0};
    struct store_db *db = NULL;
    struct err err = {{0}};
    char path[128];
    daemon_run_destroy(world->run);
    world->run = NULL;
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.db", world->dir);
    if (store_db_open(path, NULL, &SCHEMA, &db, &err) != 0 ||
        store_db_walk(db, store_db_table(db, "events"), NULL, NULL, false, SIZE_MAX, take_row,
                      &found, &err) < 0) {
        fail_msg("%s", err.text);
    }
    store_db_close(db);
    return found;
}

static void events_of_one_submission_are_one_row(void **state)
{
    struct world *world = *state;
    (void)submit(world, "[" GOOD "; UserLog = \"one.log\"; ProcCount = 14]");
    struct found found = rows_left(world);
    assert_int_equal(found.rows, 1);
    assert_int_equal(found.events, 14);
    assert_string_equal(found.paths[0], "/one.log");
}

static void each_log_has_rows_of_its_own(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const jobs[] = {"[]", "[]", "[UserLog = \"two.log\"]", "[]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; UserLog = \"one.log\"]", jobs, &answer),
                     0);
    answer_fini(&answer);
    struct found found = rows_left(world);
    assert_int_equal(found.rows, 3);
    assert_int_equal(found.events, 4);
    assert_string_equal(found.paths[0], "/one.log");
    assert_string_equal(found.paths[1], "/two.log");
    assert_string_equal(found.paths[2], "/one.log");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(events_of_one_submission_are_one_row),
        CASE(each_log_has_rows_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
