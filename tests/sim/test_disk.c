/* Simulated disks: what a power cut takes back, and that a store over them keeps what it
 * acknowledged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "sim/sim.h"
#include "store/store.h"
#include "tests/support/toy.h"

static const char *const TABLES[] = {"jobs", NULL};
static const struct store_schema SCHEMA = {.daemon = "toy", .tables = TABLES, .version = 1};

/* Writes numbers into a store as fast as they are committed. */
struct writer {
    struct sim_env env;
    struct store *store;
    struct os *os;
    unsigned next;  /* the number under way */
    unsigned acked; /* numbers below it are durable, so said the store */
    unsigned loaded, missing, starts, open_failures;
    char error[ERR_TEXT_MAX];
};

static void write_next(struct writer *writer);

static void committed(void *arg)
{
    struct writer *writer = arg;
    writer->acked = writer->next + 1;
    writer->next++;
    write_next(writer);
}

static void write_next(struct writer *writer)
{
    char key[32], value[700];
    (void)snprintf(key, sizeof(key), "%08u", writer->next);
    memset(value, 'v', sizeof(value));
    struct store_txn *txn = store_begin(writer->store);
    store_put(txn, "jobs", key, value, sizeof(value));
    store_commit(txn, committed, writer);
}

static int load_one(void *arg, const char *key, const void *value, size_t length)
{
    struct writer *writer = arg;
    char expected[32];
    (void)value;
    (void)snprintf(expected, sizeof(expected), "%08u", writer->loaded);
    if (strcmp(key, expected) != 0 || length != 700) {
        writer->missing++;
    }
    writer->loaded++;
    return 0;
}

static void write_numbers(const struct sim_env *env, void *arg)
{
    struct writer *writer = arg;
    struct err err = {""};
    writer->starts++;
    writer->os = env->os;
    if (store_open(env->loop, env->os, "/var/toy.db", &SCHEMA, NULL, &writer->store, &err) != 0) {
        writer->open_failures++;
        (void)snprintf(writer->error, sizeof(writer->error), "%s", err.text);
        loop_stop(env->loop, 1);
        return;
    }
    writer->loaded = 0;
    assert_int_equal(store_load(writer->store, "jobs", load_one, writer, &err), 0);
    if (writer->loaded < writer->acked) {
        writer->missing++;
    }
    writer->next = writer->loaded;
    write_next(writer);
}

struct rig {
    struct writer writer;
    struct toy toy;
    struct sim_program program;
    const struct sim_program *list[2];
    struct sim *sim;
    struct sim_host *host;
};

static void rig_make(struct rig *rig, uint64_t seed)
{
    rig->toy = (struct toy){write_numbers, &rig->writer};
    rig->program = (struct sim_program)TOY("toy", &rig->toy);
    rig->list[0] = &rig->program;
    rig->sim = toy_sim(seed, rig->list);
    rig->host = toy_host(rig->sim, "a", rig->list);
    sim_file_put(rig->host, "/var/here", "", 0, 0644);
    const char *argv[] = {"/bin/toy", NULL};
    sim_host_service(rig->host, argv, true);
}

static struct sim_process *the_process(struct rig *rig)
{
    uint64_t at = 0;
    return sim_process_next(rig->sim, &at);
}

static void a_commit_survives_the_kill_that_follows_it(void **state)
{
    (void)state;
    uint64_t with_work = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rig rig = {0};
        rig_make(&rig, seed);
        for (unsigned round = 0; round < 5; round++) {
            sim_run_for(rig.sim, sim_between(rig.sim, 100 * SIM_MS, SIM_S));
            if (the_process(&rig) != NULL && round % 2 == 0) {
                sim_kill(the_process(&rig));
            } else if (the_process(&rig) != NULL) { /* in the middle of a write */
                sim_disk_kill(the_process(&rig), (unsigned)sim_between(rig.sim, 1, 20));
            }
            sim_run_for(rig.sim, 4 * SIM_S);
        }
        assert_string_equal(rig.writer.error, "");
        assert_int_equal(rig.writer.missing, 0);
        assert_true(rig.writer.acked > 100);
        assert_int_equal(rig.writer.starts, 6);
        with_work += sim_counted(rig.sim, SIM_COUNT_COMMIT_KILLS);
        sim_destroy(rig.sim);
    }
    assert_true(with_work > 10);
}

static void what_was_not_committed_is_gone_after_a_kill(void **state)
{
    (void)state;
    struct rig rig = {0};
    rig_make(&rig, 1);
    while (rig.writer.store == NULL || !sim_process_in_lane(the_process(&rig))) {
        assert_true(sim_step(rig.sim, UINT64_MAX)); /* the first number is on its way */
    }
    assert_int_equal(rig.writer.acked, 0);
    sim_kill(the_process(&rig));
    rig.writer.loaded = 99;
    while (rig.writer.starts < 2) {
        assert_true(sim_step(rig.sim, UINT64_MAX));
    }
    assert_int_equal(rig.writer.loaded, 0);
    sim_destroy(rig.sim);
}

static void a_store_keeps_what_it_acknowledged_through_power_cuts(void **state)
{
    (void)state;
    uint64_t lost = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct rig rig = {0};
        rig_make(&rig, seed);
        for (unsigned round = 0; round < 6; round++) {
            sim_run_for(rig.sim, sim_between(rig.sim, 1, 3 * SIM_S));
            if (round % 3 == 0) {
                sim_host_power_cut(rig.host);
            } else { /* in the middle of a commit or of a checkpoint */
                sim_disk_power_cut(rig.host, (unsigned)sim_between(rig.sim, 1, 300));
                while (sim_host_power(rig.host) == SIM_HOST_ON) {
                    assert_true(sim_step(rig.sim, UINT64_MAX));
                }
            }
            sim_host_boot_now(rig.host);
        }
        sim_run_for(rig.sim, 5 * SIM_S);
        assert_string_equal(rig.writer.error, "");
        assert_int_equal(rig.writer.missing, 0);
        assert_true(rig.writer.acked > 100);
        lost += sim_counted(rig.sim, SIM_COUNT_LOST_WRITES);
        sim_destroy(rig.sim);
    }
    assert_true(lost > 100);
}

static void a_write_or_sync_that_fails_ends_the_daemon_and_loses_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rig rig = {0};
        rig_make(&rig, seed);
        sim_run_for(rig.sim, 2 * SIM_S);
        sim_disk_fail(rig.host, seed % 2 == 0, seed % 2 == 1);
        sim_run_for(rig.sim, 6 * SIM_S);
        assert_int_equal(sim_counted(rig.sim, SIM_COUNT_DISK_ERRORS), 1);
        assert_int_equal(sim_counted(rig.sim, SIM_COUNT_FATALS), 1);
        assert_int_equal(rig.writer.starts, 2);
        assert_int_equal(rig.writer.missing, 0);
        sim_destroy(rig.sim);
    }
}

/* ---- files without a store ------------------------------------------------------------------- */

static void idle(const struct sim_env *env, void *arg)
{
    struct writer *writer = arg;
    writer->os = env->os;
}

static bool file_is(struct sim_host *host, const char *path, const char *text)
{
    const char *there = sim_file_get(host, path, NULL);
    return there != NULL && strcmp(there, text) == 0;
}

static void a_durable_write_stays_and_another_may_go(void **state)
{
    (void)state;
    unsigned kept = 0, renames_kept = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct writer writer = {0};
        struct toy toy = {idle, &writer};
        struct sim_program program = TOY("toy", &toy);
        const struct sim_program *list[] = {&program, NULL};
        struct sim *sim = toy_sim(seed, list);
        struct sim_host *host = toy_host(sim, "a", list);
        assert_non_null(toy_spawn(host, "/bin/toy"));
        sim_run_for(sim, SIM_S);
        assert_int_equal(os_write_file(writer.os, "/tmp/durable", "old", 3, 0644, true, NULL), 0);
        assert_int_equal(os_write_file(writer.os, "/tmp/other", "new", 3, 0644, false, NULL), 0);
        assert_int_equal(os_rename(writer.os, "/tmp/durable", "/tmp/moved", false, NULL), 0);
        assert_true(file_is(host, "/tmp/other", "new"));
        sim_host_power_cut(host);
        assert_true(file_is(host, "/tmp/durable", "old") || file_is(host, "/tmp/moved", "old") ||
                    sim_file_get(host, "/tmp/moved", NULL) == NULL);
        kept += file_is(host, "/tmp/other", "new");
        renames_kept += file_is(host, "/tmp/moved", "old");
        sim_destroy(sim);
    }
    assert_in_range(kept, 3, 37);
    assert_in_range(renames_kept, 3, 37);
}

static void the_death_of_a_process_takes_nothing_back(void **state)
{
    (void)state;
    struct writer writer = {0};
    struct toy toy = {idle, &writer};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *list[] = {&program, NULL};
    struct sim *sim = toy_sim(1, list);
    struct sim_host *host = toy_host(sim, "a", list);
    struct sim_process *process = toy_spawn(host, "/bin/toy");
    sim_run_for(sim, SIM_S);
    struct os_file *file = NULL;
    assert_int_equal(os_file_open(writer.os, "/tmp/f", OS_WRITE_NEW, 0600, &file, NULL), 0);
    assert_int_equal(os_file_write(file, 0, "abc", 3), 0);
    assert_int_equal(os_file_open(writer.os, "/tmp/f", OS_WRITE_NEW, 0600, &file, NULL), -EEXIST);
    sim_kill(process);
    assert_true(file_is(host, "/tmp/f", "abc"));
    sim_destroy(sim);
}

static void note_name(void *arg, const char *name)
{
    char *names = arg;
    size_t used = strlen(names);
    (void)snprintf(names + used, 64 - used, "%s;", name);
}

static void a_directory_lists_sorted_and_a_tree_is_removed_whole(void **state)
{
    (void)state;
    struct writer writer = {0};
    struct toy toy = {idle, &writer};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *list[] = {&program, NULL};
    struct sim *sim = toy_sim(1, list);
    assert_non_null(toy_spawn(toy_host(sim, "a", list), "/bin/toy"));
    sim_run_for(sim, SIM_S);
    char names[64] = "";
    struct os_stat stat;
    assert_int_equal(os_mkdirs(writer.os, "/tmp/d/e/../b", 0755, NULL), 0);
    assert_int_equal(os_write_file(writer.os, "/tmp/d/c", "", 0, 0600, false, NULL), 0);
    assert_int_equal(os_write_file(writer.os, "/tmp/d/a", "xy", 2, 0600, false, NULL), 0);
    assert_int_equal(os_list(writer.os, "/tmp/d", note_name, names, NULL), 0);
    assert_string_equal(names, "a;b;c;");
    assert_int_equal(os_stat(writer.os, "/tmp/d/a", &stat), 0);
    assert_true(stat.is_file && stat.size_bytes == 2 && stat.mode == 0600);
    assert_int_equal(os_remove(writer.os, "/tmp/d", NULL), -ENOTEMPTY);
    assert_int_equal(os_remove_tree(writer.os, "/tmp/d", NULL), 0);
    assert_int_equal(os_stat(writer.os, "/tmp/d/a", &stat), -ENOENT);
    sim_destroy(sim);
}

UNIT_TESTS(UNIT(a_commit_survives_the_kill_that_follows_it),
           UNIT(what_was_not_committed_is_gone_after_a_kill),
           UNIT(a_store_keeps_what_it_acknowledged_through_power_cuts),
           UNIT(a_write_or_sync_that_fails_ends_the_daemon_and_loses_nothing),
           UNIT(a_durable_write_stays_and_another_may_go),
           UNIT(the_death_of_a_process_takes_nothing_back),
           UNIT(a_directory_lists_sorted_and_a_tree_is_removed_whole))
