/* A collector that is killed after a commit and before its answer, at each flush of its store: what
 * was acknowledged is there in the next one, and what was not is there wholly or not at all.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <signal.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "tests/support/collector_bed.h"

#define OPERATIONS 12
#define NEVER      (-1)

/* ---- a disk that kills us after its nth flush ------------------------------------------------ */

struct killer {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    struct {
        const sqlite3_io_methods *real;
        sqlite3_io_methods ours;
    } methods[4];
    int flushes;
    int kill_at;
};

static struct killer *killer_of(void)
{
    return sqlite3_vfs_find("killer")->pAppData;
}

static int killer_sync(sqlite3_file *file, int flags)
{
    struct killer *killer = killer_of();
    int code = SQLITE_IOERR;
    for (size_t i = 0; i < 4; i++) {
        if (file->pMethods == &killer->methods[i].ours) {
            code = killer->methods[i].real->xSync(file, flags);
        }
    }
    if (++killer->flushes == killer->kill_at) {
        (void)kill(getpid(), SIGKILL);
    }
    return code;
}

static int killer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    struct killer *killer = vfs->pAppData;
    int code = killer->real->xOpen(killer->real, name, file, flags, out);
    for (size_t i = 0; i < 4 && code == SQLITE_OK; i++) {
        if (!killer->methods[i].real) {
            killer->methods[i].real = file->pMethods;
            killer->methods[i].ours = *file->pMethods;
            killer->methods[i].ours.xSync = killer_sync;
        }
        if (killer->methods[i].real == file->pMethods) {
            file->pMethods = &killer->methods[i].ours;
            break;
        }
    }
    return code;
}

static _Noreturn void be_collector(struct bed *bed, int kill_at)
{
    struct killer killer = {.kill_at = kill_at};
    killer.real = sqlite3_vfs_find(NULL);
    killer.vfs = *killer.real;
    killer.vfs.zName = "killer";
    killer.vfs.pNext = NULL;
    killer.vfs.pAppData = &killer;
    killer.vfs.xOpen = killer_open;
    sqlite3_vfs_register(&killer.vfs, 1);
    bed_renew_loop(bed);
    bed_start(bed);
    _exit(loop_run(bed->loop));
}

static pid_t start_collector(struct bed *bed, int kill_at)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        be_collector(bed, kill_at);
    }
    return pid;
}

/* NULL when it died before it listened. */
static struct client *dial(struct bed *bed, pid_t pid)
{
    for (;;) {
        struct client *client = client_dial(bed, 0, "", NULL, NULL);
        if (client->status == 0) {
            return client;
        }
        if (waitpid(pid, NULL, WNOHANG) == pid) {
            return NULL;
        }
    }
}

/* ---- what is done, and what has to be there -------------------------------------------------- */

/* Operation n is about machine n / 3: it goes to sleep, is matched, and (all but the last) wakes.
 */
static int operate(struct client *client, int n)
{
    char ad[300];
    char args[100] = "[]";
    const char *const ads[] = {ad, NULL};
    enum wire_verb verb = VERB_UPDATE;
    int machine = n / 3;
    switch (n % 3) {
    case 0:
        snprintf(ad, sizeof(ad),
                 "[ MyType = \"Machine\"; Name = \"slot1@wn%d\"; Machine = \"wn%d\";"
                 " Offline = true; OfflineBootId = \"b1\" ]",
                 machine, machine);
        break;
    case 1:
        verb = VERB_MERGE;
        snprintf(args, sizeof(args), "[ Name = \"slot1@wn%d\" ]", machine);
        snprintf(ad, sizeof(ad), "[ MachineLastMatchTime = %d ]", 100 + machine);
        break;
    default:
        snprintf(ad, sizeof(ad),
                 "[ MyType = \"Machine\"; Name = \"slot%d@wn%d\"; Machine = \"wn%d\";"
                 " BootId = \"b2\" ]",
                 1 + machine % 2, machine, machine);
        break;
    }
    struct answer answer;
    int status = client_call(client, verb, args, ads, &answer);
    answer_fini(&answer);
    return status;
}

/* The offline ads after the first count operations. */
static void expected(int count, char *ret, size_t size)
{
    ret[0] = '\0';
    for (int machine = 0; machine * 3 < count; machine++) {
        int steps = count - machine * 3;
        size_t used = strlen(ret);
        if (steps < 3) {
            snprintf(ret + used, size - used, "slot1@wn%d=%d ", machine,
                     steps == 2 ? 100 + machine : 0);
        }
    }
}

static void found(struct client *client, char *ret, size_t size)
{
    struct answer answer;
    assert_int_equal(client_call(client, VERB_QUERY, "[ Type = \"Machine\" ]", NULL, &answer), 0);
    ret[0] = '\0';
    for (size_t i = 0; i < answer.ads.count; i++) {
        const struct ad *ad = answer.ads.items[i];
        assert_true(ad_bool_or(ad, "Offline", false));
        size_t used = strlen(ret);
        snprintf(ret + used, size - used, "%s=%d ", ad_string_or(ad, "Name", "?"),
                 (int)ad_int_or(ad, "MachineLastMatchTime", 0));
    }
    answer_fini(&answer);
}

/* Runs the operations against a collector that dies after its nth flush; false when it outlived
 * them.  *kept: the operation that was not answered was durable. */
static bool try_with_kill_at(int kill_at, bool *kept)
{
    struct bed *bed = bed_create("");
    pid_t pid = start_collector(bed, kill_at);
    struct client *client = dial(bed, pid);
    int answered = 0;
    while (client && answered < OPERATIONS && operate(client, answered) == 0) {
        answered++;
    }
    bool outlived = client && answered == OPERATIONS;
    if (client) {
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    pid = start_collector(bed, NEVER);
    client = dial(bed, pid);
    assert_non_null(client);
    char is[512];
    char should[512];
    char or_else[512];
    found(client, is, sizeof(is));
    expected(answered, should, sizeof(should));
    expected(answered + 1, or_else, sizeof(or_else));
    *kept = !outlived && strcmp(is, or_else) == 0;
    if (strcmp(is, should) != 0 && !*kept) {
        fail_msg("killed at flush %d: %d operations were answered, then '%s' is found", kill_at,
                 answered, is);
    }
    /* What was not answered is sent again, and the rest follows. */
    for (; answered < OPERATIONS; answered++) {
        assert_int_equal(operate(client, answered), 0);
    }
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    bed_destroy(bed);
    return !outlived;
}

static void nothing_acknowledged_is_lost_whenever_it_is_killed(void **state)
{
    (void)state;
    int kept_count = 0;
    int kill_at = 1;
    bool kept;
    while (try_with_kill_at(kill_at, &kept)) {
        kept_count += kept;
        kill_at++;
    }
    assert_true(kill_at > OPERATIONS); /* each operation has its flush */
    assert_true(kept_count >= OPERATIONS);
}

UNIT_TESTS(UNIT(nothing_acknowledged_is_lost_whenever_it_is_killed))
