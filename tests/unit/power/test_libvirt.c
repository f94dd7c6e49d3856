/* The method libvirt, with the real roost-libvirt and libvirt's own test driver, which plays a
 * hypervisor inside that process; and with programs in its place that do not answer as they should.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <errno.h>
#include <unistd.h>

#include "power/power.h"

struct rig {
    char dir[FAST_DIR_SIZE], program[512], uri[300], script[300];
    struct loop *loop;
    struct os *os;
    struct power *power;
    bool over;
    unsigned waited_for, answers;
    int status;
    enum power_state state;
    char text[512];
    struct power_node node;
    struct power_watch *watch;
    struct {
        unsigned count, wanted;
        enum power_state state;
        bool answers;
        char text[512];
        bool over;
    } news;
};

static const char NODES[] =
    "<node><domain type='test'><name>on</name>"
    "<uuid>11111111-1111-1111-1111-111111111101</uuid><memory>1024</memory><vcpu>1</vcpu>"
    "<os><type>hvm</type></os><devices><interface type='network'>"
    "<mac address='52:54:00:00:00:01'/><source network='lan'/></interface></devices></domain>"
    "<domain type='test' xmlns:test='http://libvirt.org/schemas/domain/test/1.0'>"
    "<name>it is off</name><uuid>11111111-1111-1111-1111-111111111102</uuid>"
    "<memory>1024</memory><vcpu>1</vcpu><os><type>hvm</type></os><devices>"
    "<interface type='network'><mac address='52:54:00:00:00:02'/><source network='lan'/>"
    "</interface><interface type='network'><mac address='52:54:00:00:00:99'/>"
    "<source network='lan'/></interface></devices><test:runstate>5</test:runstate></domain>"
    "<domain type='test' xmlns:test='http://libvirt.org/schemas/domain/test/1.0'>"
    "<name>paused</name><uuid>11111111-1111-1111-1111-111111111103</uuid>"
    "<memory>1024</memory><vcpu>1</vcpu><os><type>hvm</type></os><devices>"
    "<interface type='network'><mac address='52:54:00:00:00:99'/><source network='lan'/>"
    "</interface></devices><test:runstate>3</test:runstate></domain>"
    "<network><name>lan</name><ip address='192.0.2.1' netmask='255.255.255.0'/></network>"
    "<cpu><num>1</num><mhz>2000</mhz><model>x</model><active>1</active><nodes>1</nodes>"
    "<sockets>1</sockets><cores>1</cores><threads>1</threads></cpu><memory>1048576</memory></node>";

static void write_file(struct rig *rig, const char *path, const char *text, mode_t mode)
{
    assert_int_equal(os_write_file(rig->os, path, text, strlen(text), mode, false, NULL), 0);
}

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    const char *bin = getenv("ROOST_BIN");
    char path[300];
    assert_non_null(bin);
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    rig->power = power_create(rig->loop, rig->os, NULL);
    (void)snprintf(rig->program, sizeof rig->program, "%s/roost-libvirt", bin);
    (void)snprintf(rig->uri, sizeof rig->uri, "test://%s/nodes.xml", rig->dir);
    (void)snprintf(rig->script, sizeof rig->script, "%s/script", rig->dir);
    (void)snprintf(path, sizeof path, "%s/nodes.xml", rig->dir);
    write_file(rig, path, NODES, 0644);
    rig->node = (struct power_node){.name = "n1",
                                    .method = "libvirt",
                                    .helper = rig->program,
                                    .uri = rig->uri,
                                    .domain = "it is off"};
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    power_destroy(rig->power);
    loop_rig_close(rig->loop, rig->os, rig->dir);
    mem_free(rig);
    return 0;
}

static void done(void *arg, int status, const char *text)
{
    struct rig *rig = arg;
    rig->status = status;
    (void)snprintf(rig->text, sizeof rig->text, "%s", text);
    rig->over = ++rig->answers == rig->waited_for;
}

static void status_done(void *arg, enum power_state state, const char *text)
{
    struct rig *rig = arg;
    rig->state = state;
    done(rig, 0, text);
}

static void answers(struct rig *rig, unsigned count)
{
    rig->waited_for = count;
    rig->answers = 0;
    rig->over = false;
    loop_run_until(rig->loop, &rig->over); /* ctest's limit ends what never comes */
}

static void wake(struct rig *rig)
{
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    answers(rig, 1);
}

static void go_down(struct rig *rig, const char *level)
{
    assert_int_equal(power_sleep(rig->power, &rig->node, level, done, rig, NULL), 0);
    answers(rig, 1);
}

static enum power_state state_now(struct rig *rig)
{
    assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    answers(rig, 1);
    return rig->state;
}

#define SAYS(rig, words) assert_non_null(strstr((rig)->text, words))

static void a_guest_is_started_and_shut_down(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(state_now(rig), POWER_OFF);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "n1 (libvirt): started");
    assert_int_equal(state_now(rig), POWER_ON);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "the guest is running already");
    go_down(rig, "S5");
    assert_int_equal(rig->status, 0);
    SAYS(rig, "the guest has shut down");
    assert_int_equal(state_now(rig), POWER_OFF);
    go_down(rig, "S5");
    assert_int_equal(rig->status, 0);
    SAYS(rig, "the guest is off already");
}

static void level_4_is_a_managed_save_that_is_restored(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "on";
    go_down(rig, "S4");
    assert_int_equal(rig->status, 0);
    SAYS(rig, "saved");
    assert_int_equal(state_now(rig), POWER_OFF);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "restored");
    assert_int_equal(state_now(rig), POWER_ON);
}

static void the_section_overrides_the_level(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "on";
    rig->node.domain_sleep = "save";
    go_down(rig, "S5");
    SAYS(rig, "saved");
    wake(rig);
    rig->node.domain_sleep = "destroy";
    go_down(rig, "S4");
    assert_int_equal(rig->status, 0);
    SAYS(rig, "destroyed");
}

static void a_suspend_that_the_hypervisor_does_not_know_fails_and_nothing_else_is_done(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "on";
    go_down(rig, "S3"); /* the test driver has none */
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "not supported");
    assert_int_equal(state_now(rig), POWER_ON);
}

static void a_paused_guest_goes_on(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "paused";
    assert_int_equal(state_now(rig), POWER_UNKNOWN); /* it is neither on nor off */
    SAYS(rig, "paused");
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "resumed");
}

static void a_guest_is_found_by_its_uuid_and_by_a_card_of_its(void **state)
{
    struct rig *rig = *state;
    static const char *const NAMES[] = {"11111111-1111-1111-1111-111111111102", "52:54:00:00:00:02",
                                        "52-54-00-00-00-02"};
    for (unsigned i = 0; i < 3; i++) {
        rig->node.domain = NAMES[i];
        assert_int_equal(state_now(rig), POWER_OFF);
    }
    rig->node.domain = "52:54:00:00:00:01";
    assert_int_equal(state_now(rig), POWER_ON);
}

static void a_guest_without_a_domain_has_the_name_of_the_machine(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = NULL;
    rig->node.name = "on";
    assert_int_equal(state_now(rig), POWER_ON);
}

static void what_cannot_be_found_is_unknown_and_not_woken(void **state)
{
    struct rig *rig = *state;
    static const char *const NAMES[] = {"nobody", "52:54:00:00:00:77",
                                        "11111111-1111-1111-1111-111111111177"};
    for (unsigned i = 0; i < 3; i++) {
        rig->node.domain = NAMES[i];
        assert_int_equal(state_now(rig), POWER_UNKNOWN);
        SAYS(rig, NAMES[i]);
        wake(rig);
        assert_int_equal(rig->status, -ENOENT);
        SAYS(rig, NAMES[i]);
    }
    rig->node.domain = "52:54:00:00:00:99";
    wake(rig);
    assert_int_equal(rig->status, -EEXIST);
    SAYS(rig, "two domains");
}

static void a_hundred_orders_at_once_all_have_their_answer(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "on";
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    }
    answers(rig, 100);
    assert_int_equal(rig->state, POWER_ON);
}

static void without_a_daemon_the_answer_is_what_libvirt_says(void **state)
{
    struct rig *rig = *state;
    char uri[400];
    (void)snprintf(uri, sizeof uri, "qemu:///system?socket=%s/none", rig->dir);
    rig->node.uri = uri;
    rig->node.deadline_ms = 2000; /* it tries again until then */
    wake(rig);
    assert_int_equal(rig->status, -ENOTCONN);
    SAYS(rig, "/none");
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
}

/* ---- watches */

static void told(void *arg, const struct power_news *news)
{
    struct rig *rig = arg;
    rig->news.state = news->state;
    rig->news.answers = news->answers;
    (void)snprintf(rig->news.text, sizeof rig->news.text, "%s", news->text);
    rig->news.over = ++rig->news.count >= rig->news.wanted;
}

/* Until there were so many in all. */
static void news_count(struct rig *rig, unsigned count)
{
    rig->news.wanted = count;
    rig->news.over = rig->news.count >= count;
    if (!rig->news.over) {
        loop_run_until(rig->loop, &rig->news.over);
    }
}

static void watch(struct rig *rig)
{
    assert_int_equal(power_watch(rig->power, &rig->node, told, rig, &rig->watch, NULL), 0);
}

static void a_watch_tells_what_becomes_of_a_guest_and_nothing_twice(void **state)
{
    struct rig *rig = *state;
    watch(rig);
    news_count(rig, 1);
    assert_int_equal(rig->news.state, POWER_OFF);
    assert_true(rig->news.answers);
    assert_string_equal(rig->news.text, "shut off");
    wake(rig); /* by an order, that is behind the watch's back */
    news_count(rig, 2);
    assert_int_equal(rig->news.state, POWER_ON);
    assert_string_equal(rig->news.text, "running (booted)");
    wake(rig);
    assert_int_equal(state_now(rig), POWER_ON);
    rig->node.domain_sleep = "destroy";
    go_down(rig, "S5");
    news_count(rig, 3);
    assert_int_equal(rig->news.state, POWER_OFF);
    assert_string_equal(rig->news.text, "shut off (destroyed)");
    rig->node.domain_sleep = "save";
    wake(rig);
    go_down(rig, "S5");
    while (strcmp(rig->news.text, "shut off (saved)") != 0) { /* perhaps it was not seen on */
        news_count(rig, rig->news.count + 1);
    }
    assert_in_range(rig->news.count, 4, 5);
}

static void a_watch_of_a_guest_that_is_none_says_so(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "nobody";
    watch(rig);
    news_count(rig, 1);
    assert_int_equal(rig->news.state, POWER_UNKNOWN);
    assert_true(rig->news.answers);
    assert_string_equal(rig->news.text, "no such domain: 'nobody'");
}

static void a_paused_guest_is_neither_on_nor_off(void **state)
{
    struct rig *rig = *state;
    rig->node.domain = "paused";
    watch(rig);
    news_count(rig, 1);
    assert_int_equal(rig->news.state, POWER_UNKNOWN);
    assert_true(rig->news.answers);
    assert_string_equal(rig->news.text, "paused");
}

static void a_watch_without_a_daemon_says_that_nobody_can_be_asked(void **state)
{
    struct rig *rig = *state;
    char uri[400];
    (void)snprintf(uri, sizeof uri, "qemu:///system?socket=%s/none", rig->dir);
    rig->node.uri = uri;
    watch(rig);
    news_count(rig, 1);
    assert_int_equal(rig->news.state, POWER_UNKNOWN);
    assert_false(rig->news.answers);
    assert_non_null(strstr(rig->news.text, "/none"));
}

static void many_watches_are_each_told_their_own(void **state)
{
    struct rig *rig = *state;
    struct power_watch *others[50];
    for (unsigned i = 0; i < 50; i++) {
        watch(rig);
        others[i] = rig->watch;
    }
    news_count(rig, 50);
    for (unsigned i = 0; i < 49; i++) {
        power_watch_end(others[i]);
    }
    wake(rig);
    news_count(rig, 51);
    assert_int_equal(rig->news.state, POWER_ON);
    rig->node.domain_sleep = "destroy";
    go_down(rig, "S5");
    news_count(rig, 52);
    assert_int_equal(rig->news.state, POWER_OFF);
    assert_int_equal(rig->news.count, 52);
}

/* ---- what stands in for roost-libvirt */

static void use_script(struct rig *rig, const char *text)
{
    write_file(rig, rig->script, text, 0755);
    rig->node.helper = rig->script;
}

static void a_helper_that_hangs_is_killed_and_the_next_order_has_another(void **state)
{
    struct rig *rig = *state;
    char text[900];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\n[ -e %s/again ] && exec %s \"$1\"\n"
                   "touch %s/again; while read -r line; do :; done\n",
                   rig->dir, rig->program, rig->dir);
    use_script(rig, text);
    rig->node.deadline_ms = 300;
    wake(rig);
    assert_int_equal(rig->status, -ETIMEDOUT);
    SAYS(rig, "did not answer");
    rig->node.deadline_ms = 0;
    do { /* until it is seen to be dead, orders fail */
        wake(rig);
    } while (rig->status == -EPIPE);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "started");
}

static void the_other_calls_of_a_helper_that_dies_fail_with_it(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "#!/bin/sh\nread -r a; read -r b; exit 3\n");
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    rig->state = POWER_ON;
    answers(rig, 2);
    assert_int_equal(rig->state, POWER_UNKNOWN);
    SAYS(rig, "ended with status 3");
}

static void an_answer_nobody_asked_for_changes_nothing(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "#!/bin/sh\nread -r a\necho '77 ok no'\necho\necho 'off'\n"
                    "echo \"${a%% *} error 5 as it is\"\nread -r b\n");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "n1 (libvirt): as it is");
}

static void an_answer_in_words_of_its_own_is_a_failure(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "#!/bin/sh\nread -r a\necho \"${a%% *} sure\"\nread -r b\n"
                    "echo \"${b%% *} maybe\"\nread -r c\n");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
}

static void the_orders_are_the_lines_that_are_documented(void **state)
{
    struct rig *rig = *state;
    char text[500], path[300], *data = NULL;
    size_t length = 0;
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\nwhile read -r a; do echo \"$1 $a\" >>%s/lines; "
                   "echo \"${a%%%% *} ok\"; done\n",
                   rig->dir);
    use_script(rig, text);
    rig->node.uri = NULL;
    rig->node.domain = NULL;
    rig->node.shutdown_timeout_s = 7;
    wake(rig);
    go_down(rig, "S5");
    go_down(rig, "S4");
    go_down(rig, "S1");
    rig->node.domain_sleep = "level";
    go_down(rig, "S3");
    rig->node.domain_sleep = "agent";
    rig->node.deadline_ms = 10000;
    go_down(rig, "S3");
    (void)state_now(rig);
    (void)snprintf(path, sizeof path, "%s/lines", rig->dir);
    assert_int_equal(os_read_file(rig->os, path, 4096, &data, &length, NULL), 0);
    assert_string_equal(data, "qemu:///system 1 wake 28 n1\n"
                              "qemu:///system 2 sleep shutdown 7 20 n1\n"
                              "qemu:///system 3 sleep save 7 898 n1\n"
                              "qemu:///system 4 sleep suspend 7 20 n1\n"
                              "qemu:///system 5 sleep suspend 7 20 n1\n"
                              "qemu:///system 6 sleep agent 7 8 n1\n"
                              "qemu:///system 7 status 8 n1\n");
    mem_free(data);
}

static void lines_of(struct rig *rig, char *text, size_t size)
{
    char path[300], *data = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof path, "%s/lines", rig->dir);
    assert_int_equal(os_read_file(rig->os, path, 4096, &data, &length, NULL), 0);
    (void)snprintf(text, size, "%s", data);
    mem_free(data);
}

/* Writes down what it is told; what it answers is in the files that are named like the verbs. */
static void use_scribe(struct rig *rig)
{
    char text[700];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\nwhile read -r id verb rest; do echo \"$id $verb $rest\" >>%s/lines; "
                   "[ $verb != watch ] || echo \"$id on because\"; "
                   "[ $verb != wake ] || echo \"$id ok\"; done\n",
                   rig->dir);
    use_script(rig, text);
}

static void a_watch_that_is_ended_is_told_nothing_any_more(void **state)
{
    struct rig *rig = *state;
    char lines[500];
    use_scribe(rig);
    watch(rig);
    news_count(rig, 1);
    power_watch_end(rig->watch);
    watch(rig); /* its first news is on its way when it is ended */
    power_watch_end(rig->watch);
    power_watch_end(NULL);
    wake(rig);
    assert_int_equal(rig->news.count, 1);
    lines_of(rig, lines, sizeof lines);
    assert_string_equal(lines, "1 watch it is off\n1 unwatch it is off\n2 watch it is off\n"
                               "2 unwatch it is off\n3 wake 28 it is off\n");
}

static void a_sleep_that_is_taken_back_ends_and_the_helper_is_told(void **state)
{
    struct rig *rig = *state;
    char lines[500];
    use_scribe(rig);
    assert_int_equal(power_sleep(rig->power, &rig->node, "S5", done, rig, NULL), 0);
    power_sleep_cancel(rig->power, &rig->node); /* of somebody else */
    power_sleep_cancel(rig->power, rig);
    answers(rig, 1);
    assert_int_equal(rig->status, -ECANCELED);
    SAYS(rig, "was cancelled");
    power_sleep_cancel(rig->power, rig); /* there is none any more */
    wake(rig);
    lines_of(rig, lines, sizeof lines);
    assert_string_equal(lines, "1 sleep shutdown 60 73 it is off\n1 cancel it is off\n"
                               "2 wake 28 it is off\n");
}

static void a_wake_is_not_taken_back_with_the_sleeps(void **state)
{
    struct rig *rig = *state;
    use_scribe(rig);
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    power_sleep_cancel(rig->power, rig);
    answers(rig, 1);
    assert_int_equal(rig->status, 0);
}

static void a_helper_that_dies_is_started_again_for_its_watches(void **state)
{
    struct rig *rig = *state;
    char text[900];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\nread -r id rest; echo \"$id on first\"\n"
                   "[ -e %s/again ] && { read -r line; exit; }\ntouch %s/again\n",
                   rig->dir, rig->dir);
    use_script(rig, text);
    watch(rig);
    news_count(rig, 2); /* each life of it tells the state; none that nobody can be asked */
    assert_int_equal(rig->news.state, POWER_ON);
    assert_true(rig->news.answers);
    assert_string_equal(rig->news.text, "first");
}

static void a_helper_that_never_says_a_word_is_told_of(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "#!/bin/sh\nexit 3\n");
    watch(rig);
    news_count(rig, 1);
    assert_int_equal(rig->news.state, POWER_UNKNOWN);
    assert_false(rig->news.answers);
    assert_non_null(strstr(rig->news.text, "ended with status 3"));
    power_watch_end(rig->watch);
    rig->node.helper = "/nonexistent/roost-libvirt";
    watch(rig);
    news_count(rig, 2);
    assert_false(rig->news.answers);
    assert_non_null(strstr(rig->news.text, "/nonexistent/roost-libvirt"));
}

static void what_a_guest_can_and_how_long_it_takes(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(power_can(&rig->node),
                     POWER_CAN_WAKE | POWER_CAN_SLEEP | POWER_CAN_STATUS | POWER_CAN_WATCH);
    assert_int_equal(power_sleep_max_ms(&rig->node, "S5"), 75000);
    rig->node.shutdown_timeout_s = 3600;
    assert_int_equal(power_sleep_max_ms(&rig->node, "S5"), 3615000);
    assert_int_equal(power_sleep_max_ms(&rig->node, "S4"), 900000);
    rig->node.deadline_ms = 500;
    assert_int_equal(power_sleep_max_ms(&rig->node, "S4"), 500);
    rig->node.helper = NULL;
    assert_int_equal(power_can(&rig->node), 0);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct rig *rig = *state;
    rig->node.helper = "/nonexistent/roost-libvirt";
    wake(rig);
    assert_int_equal(rig->status, -ENOENT);
    SAYS(rig, "/nonexistent/roost-libvirt");
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
}

static void a_node_that_could_write_lines_of_its_own_is_refused(void **state)
{
    struct rig *rig = *state;
    struct err err;
    rig->node.domain = "a\n2 sleep destroy 0 9 b";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node.domain = "";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node.domain = "a";
    assert_int_equal(power_check(&rig->node, &err), 0);
    rig->node.uri = "--help";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node.uri = NULL;
    rig->node.helper = "roost-libvirt";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node.helper = NULL;
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
}

static void what_is_under_way_is_dropped_without_a_word(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "#!/bin/sh\nwhile read -r line; do :; done\n");
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    power_destroy(rig->power);
    rig->power = NULL;
    assert_int_equal(rig->answers, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_guest_is_started_and_shut_down),
        CASE(level_4_is_a_managed_save_that_is_restored),
        CASE(the_section_overrides_the_level),
        CASE(a_suspend_that_the_hypervisor_does_not_know_fails_and_nothing_else_is_done),
        CASE(a_paused_guest_goes_on),
        CASE(a_guest_is_found_by_its_uuid_and_by_a_card_of_its),
        CASE(a_guest_without_a_domain_has_the_name_of_the_machine),
        CASE(what_cannot_be_found_is_unknown_and_not_woken),
        CASE(a_hundred_orders_at_once_all_have_their_answer),
        CASE(without_a_daemon_the_answer_is_what_libvirt_says),
        CASE(a_helper_that_hangs_is_killed_and_the_next_order_has_another),
        CASE(the_other_calls_of_a_helper_that_dies_fail_with_it),
        CASE(an_answer_nobody_asked_for_changes_nothing),
        CASE(an_answer_in_words_of_its_own_is_a_failure),
        CASE(the_orders_are_the_lines_that_are_documented),
        CASE(a_watch_tells_what_becomes_of_a_guest_and_nothing_twice),
        CASE(a_watch_of_a_guest_that_is_none_says_so),
        CASE(a_paused_guest_is_neither_on_nor_off),
        CASE(a_watch_without_a_daemon_says_that_nobody_can_be_asked),
        CASE(many_watches_are_each_told_their_own),
        CASE(a_watch_that_is_ended_is_told_nothing_any_more),
        CASE(a_sleep_that_is_taken_back_ends_and_the_helper_is_told),
        CASE(a_wake_is_not_taken_back_with_the_sleeps),
        CASE(a_helper_that_dies_is_started_again_for_its_watches),
        CASE(a_helper_that_never_says_a_word_is_told_of),
        CASE(what_a_guest_can_and_how_long_it_takes),
        CASE(a_program_that_is_not_there_is_named),
        CASE(a_node_that_could_write_lines_of_its_own_is_refused),
        CASE(what_is_under_way_is_dropped_without_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
