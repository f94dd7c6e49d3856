/* Switching machines with real programs: the methods process and command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "power/power.h"

struct rig {
    char dir[FAST_DIR_SIZE], program[128], out[128], self[512];
    struct loop *loop;
    struct os *os;
    struct power *power;
    bool over;
    int status;
    enum power_state state;
    char text[512];
    int calls;
    struct power_node node;
};

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    rig->power = power_create(rig->loop, rig->os, NULL);
    (void)snprintf(rig->program, sizeof rig->program, "%s/program", rig->dir);
    (void)snprintf(rig->out, sizeof rig->out, "%s/out", rig->dir);
    assert_true(readlink("/proc/self/exe", rig->self, sizeof rig->self - 1) > 0);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    char mark[128];
    (void)snprintf(mark, sizeof mark, "ROOST_CONFIG=%s/node.conf", rig->dir);
    (void)os_marked_kill(rig->os, mark, SIGKILL); /* masters that a test left */
    power_destroy(rig->power);
    loop_rig_close(rig->loop, rig->os, rig->dir);
    mem_free(rig);
    return 0;
}

static void script(struct rig *rig, const char *text)
{
    struct err err = {{0}};
    if (os_write_file(rig->os, rig->program, text, strlen(text), 0755, false, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void done(void *arg, int status, const char *text)
{
    struct rig *rig = arg;
    rig->calls++;
    rig->over = true;
    rig->status = status;
    (void)snprintf(rig->text, sizeof rig->text, "%s", text);
}

static void status_done(void *arg, enum power_state state, const char *text)
{
    struct rig *rig = arg;
    done(rig, 0, text);
    rig->state = state;
}

static void wait_for(struct rig *rig)
{
    loop_rig_await(rig->loop, &rig->over, NULL);
    rig->over = false;
    rig->calls = 0;
}

/* Waits for a condition on the file system or a process. */
static void until(struct rig *rig, bool (*holds)(struct rig *rig))
{
    LOOP_RIG_UNTIL(rig->loop, holds(rig), "");
}

/* What the program wrote; static storage. */
static const char *output(struct rig *rig)
{
    static _Thread_local char text[2048];
    char *data = NULL;
    size_t length = 0;
    text[0] = '\0';
    if (os_read_file(rig->os, rig->out, sizeof text - 1, &data, &length, NULL) == 0) {
        (void)snprintf(text, sizeof text, "%s", data);
        mem_free(data);
    }
    return text;
}

static struct power_node command(const struct rig *rig)
{
    return (struct power_node){.name = "n1",
                               .method = "command",
                               .wake_command = rig->program,
                               .sleep_command = rig->program,
                               .status_command = rig->program};
}

static int wake(struct rig *rig, const struct power_node *node)
{
    struct err err = {{0}};
    if (power_wake(rig->power, node, done, rig, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(rig->calls, 0); /* never inside the call */
    wait_for(rig);
    return rig->status;
}

/* ---- the command method */

static void a_command_gets_the_node_and_its_ad(void **state)
{
    struct rig *rig = *state;
    char wake_command[256];
    struct power_node node = command(rig);
    script(rig, "#!/bin/sh\nexec >\"$(dirname $0)/out\"\n"
                "echo \"$# $1 $2 $ROOST_NODE [$ROOST_LEVEL]\"\ncat\n");
    (void)snprintf(wake_command, sizeof wake_command, "%s 'two words'", rig->program);
    node.wake_command = wake_command;
    node.ad_text = "Machine = \"n1\"\n";
    assert_int_equal(wake(rig, &node), 0);
    assert_string_equal(output(rig), "2 two words n1 n1 []\nMachine = \"n1\"\n");
    assert_string_equal(rig->text, "n1 (command): the command succeeded");
}

static void the_callers_texts_may_go_after_the_call(void **state)
{
    struct rig *rig = *state;
    char *command_text = mem_strdup(rig->program), *name = mem_strdup("n7");
    struct power_node node = command(rig);
    script(rig, "#!/bin/sh\nexit 0\n");
    node.name = name;
    node.wake_command = command_text;
    assert_int_equal(power_wake(rig->power, &node, done, rig, NULL), 0);
    memset(command_text, 'x', strlen(command_text));
    memset(name, 'x', strlen(name));
    mem_free(command_text);
    mem_free(name);
    wait_for(rig);
    assert_int_equal(rig->status, 0);
    assert_string_equal(rig->text, "n7 (command): the command succeeded");
}

static void a_sleep_command_learns_the_level(void **state)
{
    struct rig *rig = *state;
    struct power_node node = command(rig);
    script(rig, "#!/bin/sh\necho \"$1 $ROOST_LEVEL\" >\"$(dirname $0)/out\"\n");
    assert_int_equal(power_sleep(rig->power, &node, "S3", done, rig, NULL), 0);
    wait_for(rig);
    assert_int_equal(rig->status, 0);
    assert_string_equal(output(rig), "n1 S3\n");
}

static void a_command_that_fails_says_how(void **state)
{
    struct rig *rig = *state;
    struct power_node node = command(rig);
    script(rig, "#!/bin/sh\nexit 3\n");
    assert_int_equal(wake(rig, &node), -EIO);
    assert_string_equal(rig->text, "n1 (command): the command ended with status 3");
    script(rig, "#!/bin/sh\nkill -9 $$\n");
    assert_int_equal(wake(rig, &node), -EIO);
    assert_string_equal(rig->text, "n1 (command): the command ended by signal 9");
}

static void a_command_that_is_not_there_is_an_answer(void **state)
{
    struct rig *rig = *state;
    struct power_node node = command(rig);
    assert_int_equal(wake(rig, &node), -ENOENT);
    assert_non_null(strstr(rig->text, "n1 (command): "));
    assert_non_null(strstr(rig->text, rig->program));
}

static bool has_output(struct rig *rig)
{
    return output(rig)[0] != '\0';
}

static bool command_is_gone(struct rig *rig)
{
    pid_t pid = (pid_t)strtol(output(rig), NULL, 10);
    return pid > 0 && os_start_time(rig->os, pid) == 0;
}

static void a_command_that_hangs_is_killed_with_its_children(void **state)
{
    struct rig *rig = *state;
    struct power_node node = command(rig);
    script(rig, "#!/bin/sh\nsleep 600 &\necho $! >\"$(dirname $0)/out\"\nwait\n");
    node.deadline_ms = 150;
    assert_int_equal(wake(rig, &node), -ETIMEDOUT);
    assert_non_null(strstr(rig->text, "n1 (command): the command did not end in time"));
    if (output(rig)[0] != '\0') { /* it had come as far as its child */
        until(rig, command_is_gone);
    }
}

static void what_a_status_command_says_is_on_off_or_unknown(void **state)
{
    struct rig *rig = *state;
    static const struct {
        const char *text;
        enum power_state state;
    } CASES[] = {{"#!/bin/sh\nexit 0\n", POWER_ON},
                 {"#!/bin/sh\nexit 1\n", POWER_OFF},
                 {"#!/bin/sh\nexit 2\n", POWER_UNKNOWN},
                 {"#!/bin/sh\nkill -9 $$\n", POWER_UNKNOWN},
                 {"#!/nowhere/sh\n", POWER_UNKNOWN},
                 {"#!/bin/sh\nexec sleep 600\n", POWER_UNKNOWN}};
    struct power_node node = command(rig);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        script(rig, CASES[i].text);
        node.deadline_ms = i == 5 ? 50 : 0;
        rig->state = (enum power_state)99;
        assert_int_equal(power_status(rig->power, &node, status_done, rig, NULL), 0);
        wait_for(rig);
        if (rig->state != CASES[i].state || strncmp(rig->text, "n1 (command): ", 14) != 0) {
            fail_msg("%s: %s (%s)", CASES[i].text, power_state_name(rig->state), rig->text);
        }
    }
}

static void what_is_under_way_is_dropped_without_a_word(void **state)
{
    struct rig *rig = *state;
    struct power_node node = command(rig);
    script(rig, "#!/bin/sh\necho $$ >\"$(dirname $0)/out\"\nexec sleep 600\n");
    assert_int_equal(power_wake(rig->power, &node, done, rig, NULL), 0);
    until(rig, has_output);
    power_destroy(rig->power);
    rig->power = power_create(rig->loop, rig->os, NULL);
    until(rig, command_is_gone);
    assert_int_equal(rig->calls, 0);
}

/* ---- the process method */

static struct power_node process(struct rig *rig)
{
    static _Thread_local char config[128];
    (void)snprintf(config, sizeof config, "%s/node.conf", rig->dir);
    return (struct power_node){.name = "n2",
                               .method = "process",
                               .config = config,
                               .lock_dir = rig->dir,
                               .program = rig->self};
}

/* What this program is when it is started as a node's master: it holds the lock until it is told to
 * end. */
static int be_master(const char *config)
{
    char dir[128], path[160], text[512];
    struct os *os;
    struct os_lock *lock;
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(config, '/') - config), config);
    (void)snprintf(path, sizeof path, "%s/master.lock", dir);
    if (os_create(NULL, &os, NULL) != 0 || os_lock(os, path, &lock, NULL, NULL) != 0) {
        return 3;
    }
    (void)snprintf(text, sizeof text, "%s %s %s %s", config, getenv("ROOST_CONFIG"),
                   getenv("ROOST_BOOT_ID"), getenv("ROOST_BOOT_TIME"));
    (void)snprintf(path, sizeof path, "%s/out", dir);
    (void)os_write_file(os, path, text, strlen(text), 0644, false, NULL);
    (void)sigwait(&set, &got);
    (void)os_remove(os, path, NULL);
    os_unlock(lock);
    os_destroy(os);
    return 0;
}

static bool is_free(struct rig *rig)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/master.lock", rig->dir);
    return os_lock_holder(rig->os, path) == 0;
}

static enum power_state status_of(struct rig *rig, const struct power_node *node)
{
    rig->state = (enum power_state)99;
    assert_int_equal(power_status(rig->power, node, status_done, rig, NULL), 0);
    wait_for(rig);
    return rig->state;
}

static void a_node_of_processes_wakes_and_sleeps(void **state)
{
    struct rig *rig = *state;
    struct power_node node = process(rig);
    char config[160], shown[160], boot_id[64];
    long long boot_time_s = 0;
    assert_int_equal(status_of(rig, &node), POWER_OFF);
    int64_t before_s = loop_wall_s(rig->loop);
    assert_int_equal(wake(rig, &node), 0);
    assert_non_null(strstr(rig->text, "n2 (process): started as pid"));
    until(rig, has_output);
    assert_int_equal(sscanf(output(rig), "%159s %159s %63s %lld", config, shown, boot_id,
                            &boot_time_s),
                     4);
    assert_string_equal(config, node.config);
    assert_string_equal(shown, node.config);
    assert_int_equal(strlen(boot_id), 36);
    assert_in_range(boot_time_s, before_s, before_s + 60);
    assert_non_null(strstr(rig->text, boot_id));
    assert_int_equal(status_of(rig, &node), POWER_ON);
    assert_int_equal(power_sleep(rig->power, &node, "S5", done, rig, NULL), 0);
    wait_for(rig);
    assert_int_equal(rig->status, 0);
    until(rig, is_free);
    assert_int_equal(status_of(rig, &node), POWER_OFF);
}

static void a_node_that_is_up_is_not_started_twice(void **state)
{
    struct rig *rig = *state;
    struct power_node node = process(rig);
    assert_int_equal(wake(rig, &node), 0);
    until(rig, has_output);
    char first[256];
    (void)snprintf(first, sizeof first, "%s", output(rig));
    node.deadline_ms = 120;
    assert_int_equal(wake(rig, &node), -EBUSY);
    assert_non_null(strstr(rig->text, "n2 (process): the node's master (pid"));
    assert_string_equal(output(rig), first);
}

static void a_wake_waits_for_a_node_that_is_still_going_down(void **state)
{
    struct rig *rig = *state;
    struct power_node node = process(rig);
    char first[256];
    assert_int_equal(wake(rig, &node), 0);
    until(rig, has_output);
    (void)snprintf(first, sizeof first, "%s", output(rig));
    assert_int_equal(power_wake(rig->power, &node, done, rig, NULL), 0);
    assert_int_equal(power_sleep(rig->power, &node, "S5", NULL, NULL, NULL), 0);
    wait_for(rig);
    assert_int_equal(rig->status, 0);
    until(rig, has_output);
    assert_string_not_equal(output(rig), first); /* another life: another boot */
}

static void a_node_whose_jobs_run_on_without_daemons_is_neither_off_nor_started(void **state)
{
    struct rig *rig = *state;
    struct power_node node = process(rig);
    struct os_lock *lock = NULL;
    char path[200];
    (void)snprintf(path, sizeof path, "%s/starter.slot1.lock", node.lock_dir);
    assert_int_equal(os_lock(rig->os, path, &lock, NULL, NULL), 0);
    assert_int_equal(status_of(rig, &node), POWER_ON);
    node.deadline_ms = 120;
    assert_int_equal(wake(rig, &node), -EBUSY);
    assert_non_null(strstr(rig->text, "n2 (process): the node's starter (pid"));
    os_unlock(lock);
    assert_int_equal(status_of(rig, &node), POWER_OFF);
}

static void a_node_without_a_master_cannot_be_put_to_sleep(void **state)
{
    struct rig *rig = *state;
    struct power_node node = process(rig);
    assert_int_equal(power_sleep(rig->power, &node, "S5", done, rig, NULL), 0);
    wait_for(rig);
    assert_int_equal(rig->status, -ESRCH);
    assert_string_equal(
        rig->text, "n2 (process): the node's master is not running, or could not be told to end");
}

static void a_master_that_is_not_there_is_an_answer(void **state)
{
    struct rig *rig = *state;
    struct power_node node = process(rig);
    node.program = rig->program;
    assert_int_equal(wake(rig, &node), -ENOENT);
    assert_non_null(strstr(rig->text, "n2 (process): "));
}

/* ---- refusals */

static void refused(const struct power_node *node, const char *words)
{
    struct err err = {{0}};
    if (power_check(node, &err) != -EINVAL || strstr(err.text, words) == NULL ||
        strstr(err.text, node->name) == NULL) {
        fail_msg("'%s' does not say '%s'", err.text, words);
    }
}

static void descriptions_that_lack_something_name_node_method_and_option(void **state)
{
    struct rig *rig = *state;
    refused(&(struct power_node){.name = "n3"}, "unknown power method ''");
    refused(&(struct power_node){.name = "n3", .method = "magic"}, "unknown power method 'magic'");
    refused(&(struct power_node){.name = "n3", .method = "process"},
            "method process needs lock_dir");
    refused(&(struct power_node){.name = "n3", .method = "process", .lock_dir = "/x"},
            "method process needs config and program");
    refused(&(struct power_node){.name = "n3", .method = "command"},
            "method command needs wake_command");
    refused(&(struct power_node){.name = "n3", .method = "command", .wake_command = " "},
            "method command needs wake_command");
    refused(&(struct power_node){.name = "n3", .method = "command", .wake_command = "'/x"},
            "method command needs wake_command");
    refused(&(struct power_node){.name = "n3", .method = "command", .wake_command = "wol n3"},
            "method command: wake_command: 'wol' is not an absolute path");
    const struct power_node no_sleep = {.name = "n3",
                                        .method = "command",
                                        .wake_command = "/bin/true"};
    struct err err = {{0}};
    assert_int_equal(power_check(&no_sleep, &err), 0);
    assert_int_equal(power_sleep(rig->power, &no_sleep, "S5", done, rig, &err), -EINVAL);
    assert_non_null(strstr(err.text, "sleep_command"));
    assert_int_equal(power_status(rig->power, &no_sleep, status_done, rig, &err), -EINVAL);
    assert_non_null(strstr(err.text, "status_command"));
    assert_int_equal(rig->calls, 0);
}

static void the_methods_are_listed(void **state)
{
    (void)state;
    assert_string_equal(power_method_name(0), "process");
    assert_string_equal(power_method_name(1), "command");
    assert_string_equal(power_method_name(2), "wol");
    assert_string_equal(power_method_name(3), "libvirt");
    assert_string_equal(power_method_name(4), "host");
    assert_string_equal(power_method_name(5), "ipmi");
    assert_string_equal(power_method_name(6), "redfish");
    assert_null(power_method_name(7));
    assert_null(power_method_name(1000));
    assert_string_equal(power_state_name(POWER_ON), "On");
    assert_string_equal(power_state_name(POWER_OFF), "Off");
    assert_string_equal(power_state_name(POWER_UNKNOWN), "Unknown");
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "-config") == 0) {
        return be_master(argv[2]);
    }
    const struct CMUnitTest tests[] = {
        RIG(a_command_gets_the_node_and_its_ad),
        RIG(the_callers_texts_may_go_after_the_call),
        RIG(a_sleep_command_learns_the_level),
        RIG(a_command_that_fails_says_how),
        RIG(a_command_that_is_not_there_is_an_answer),
        RIG(a_command_that_hangs_is_killed_with_its_children),
        RIG(what_a_status_command_says_is_on_off_or_unknown),
        RIG(what_is_under_way_is_dropped_without_a_word),
        RIG(a_node_of_processes_wakes_and_sleeps),
        RIG(a_node_whose_jobs_run_on_without_daemons_is_neither_off_nor_started),
        RIG(a_node_that_is_up_is_not_started_twice),
        RIG(a_wake_waits_for_a_node_that_is_still_going_down),
        RIG(a_node_without_a_master_cannot_be_put_to_sleep),
        RIG(a_master_that_is_not_there_is_an_answer),
        RIG(descriptions_that_lack_something_name_node_method_and_option),
        RIG(the_methods_are_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
