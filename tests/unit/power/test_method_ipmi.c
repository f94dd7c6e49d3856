/* The method ipmi, with the real ipmitool and a controller that is a program (ipmi_sim), whose
 * chassis is a script; and with programs in ipmitool's place that do not answer as they should.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "power/bmc.h"
#include "power/power.h"

#define PASSWORD "se-cret-7"

struct rig {
    char dir[FAST_DIR_SIZE], password[100], script[100], bmc[40];
    struct loop *loop;
    struct os *os;
    struct power *power;
    pid_t sim;
    bool over;
    int status;
    enum power_state state;
    char text[512];
    struct power_node node;
};

static void write_file(struct rig *rig, const char *name, const char *text, mode_t mode)
{
    loop_rig_write(rig->os, rig->dir, name, text, mode);
}

/* "" when there is none */
static char *read_file(struct rig *rig, const char *name)
{
    char path[300], *data = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof path, "%s/%s", rig->dir, name);
    return os_read_file(rig->os, path, 100000, &data, &length, NULL) == 0 ? data : mem_strdup("");
}

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    rig->power = power_create(rig->loop, rig->os, NULL);
    (void)snprintf(rig->password, sizeof rig->password, "%s/password", rig->dir);
    (void)snprintf(rig->script, sizeof rig->script, "%s/script", rig->dir);
    (void)snprintf(rig->bmc, sizeof rig->bmc, "127.0.0.1:9");
    write_file(rig, "password", PASSWORD "\n", 0600);
    rig->node = (struct power_node){.name = "n1",
                                    .method = "ipmi",
                                    .bmc = rig->bmc,
                                    .bmc_user = "op",
                                    .bmc_program = "/usr/bin/ipmitool",
                                    .cipher_suite = 3,
                                    .shutdown_timeout_s = 1,
                                    .bmc_password_file = rig->password};
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    power_destroy(rig->power);
    if (rig->sim > 0) {
        os_forget(rig->os, rig->sim);
        (void)os_kill(rig->os, rig->sim, SIGKILL);
    }
    loop_rig_close(rig->loop, rig->os, rig->dir);
    mem_free(rig);
    return 0;
}

static void done(void *arg, int status, const char *text)
{
    struct rig *rig = arg;
    rig->status = status;
    (void)snprintf(rig->text, sizeof rig->text, "%s", text);
    rig->over = true;
}

static void status_done(void *arg, enum power_state state, const char *text)
{
    ((struct rig *)arg)->state = state;
    done(arg, 0, text);
}

static void until_over(struct rig *rig)
{
    rig->over = false;
    loop_run_until(rig->loop, &rig->over); /* ctest's limit ends what never comes */
}

static void wake(struct rig *rig)
{
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    until_over(rig);
}

static void go_down(struct rig *rig, const char *level)
{
    assert_int_equal(power_sleep(rig->power, &rig->node, level, done, rig, NULL), 0);
    until_over(rig);
}

static enum power_state state_now(struct rig *rig)
{
    assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    until_over(rig);
    return rig->state;
}

#define SAYS(rig, words) assert_non_null(strstr((rig)->text, words))

static void want_file(struct rig *rig, const char *name, const char *text)
{
    char *data = read_file(rig, name);
    assert_string_equal(data, text);
    mem_free(data);
}

/* ---- a controller */

static const char CHASSIS[] = "#!/bin/sh\n"
                              "cd %s || exit 1\n"
                              "shift; op=$1; shift\n"
                              "[ $op = get ] && for what; do\n"
                              "    [ $what = power ] && echo \"power:$(cat state)\"; done\n"
                              "[ $op = set ] && while [ $# -ge 2 ]; do\n"
                              "    echo \"$1 $2\" >>orders\n"
                              "    case $1:$(cat mood) in\n"
                              "    power:good|power:rude) echo $2 >state ;;\n"
                              "    shutdown:good) echo 0 >state ;; esac\n"
                              "    shift 2; done\n"
                              "exit 0\n";

static uint16_t free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    (void)close(fd);
    return ntohs(at.sin_port);
}

/* state 0 or 1; mood: "good", "rude" (does not shut down), "deaf" (does nothing) */
static void controller(struct rig *rig, const char *state, const char *mood)
{
    char text[2000], conf[100], emu[100], out[100], folder[100];
    if (access("/usr/bin/ipmi_sim", X_OK) != 0 || access("/usr/bin/ipmitool", X_OK) != 0) {
        print_message("no ipmi_sim or ipmitool here (make deps)\n");
        skip();
    }
    uint16_t port = free_port();
    (void)snprintf(rig->bmc, sizeof rig->bmc, "127.0.0.1:%d", port);
    (void)snprintf(text, sizeof text,
                   "name \"bmc\"\nset_working_mc 0x20\n startlan 1\n  addr 127.0.0.1 %d\n"
                   "  priv_limit admin\n  allowed_auths_callback none md2 md5 straight\n"
                   "  allowed_auths_user none md2 md5 straight\n"
                   "  allowed_auths_operator none md2 md5 straight\n"
                   "  allowed_auths_admin none md2 md5 straight\n"
                   "  guid a123456789abcdefa123456789abcdef\n endlan\n"
                   " chassis_control \"%s/chassis 0x20\"\n"
                   " user 2 true \"op\" \"" PASSWORD "\" operator 10 none md2 md5 straight\n",
                   port, rig->dir);
    write_file(rig, "lan.conf", text, 0600);
    write_file(rig, "sim.emu",
               "mc_setbmc 0x20\n"
               "mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n"
               "sel_enable 0x20 1000 0x0a\nmc_enable 0x20\n",
               0600);
    (void)snprintf(text, sizeof text, CHASSIS, rig->dir);
    write_file(rig, "chassis", text, 0755);
    write_file(rig, "state", state, 0600);
    write_file(rig, "mood", mood, 0600);
    (void)snprintf(conf, sizeof conf, "%s/lan.conf", rig->dir);
    (void)snprintf(emu, sizeof emu, "%s/sim.emu", rig->dir);
    (void)snprintf(out, sizeof out, "%s/sim.out", rig->dir);
    (void)snprintf(folder, sizeof folder, "%s/sim", rig->dir);
    assert_int_equal(os_mkdirs(rig->os, folder, 0700, NULL), 0);
    const char *argv[] = {"/usr/bin/ipmi_sim", "-n", "-s", folder, "-c", conf, "-f", emu, NULL};
    const struct os_spawn spec = {.argv = argv, .stdout_path = out, .stderr_path = out};
    assert_int_equal(os_spawn(rig->os, &spec, NULL, NULL, &rig->sim, NULL), 0);
    rig->node.deadline_ms = 1000;
    while (state_now(rig) == POWER_UNKNOWN) { /* until it listens */
    }
    rig->node.deadline_ms = 0;
}

static void a_machine_is_switched_on_and_shut_down(void **state)
{
    struct rig *rig = *state;
    controller(rig, "0", "good");
    assert_int_equal(state_now(rig), POWER_OFF);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "n1 (ipmi): switched on");
    assert_int_equal(state_now(rig), POWER_ON);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "says that the machine is on");
    go_down(rig, "S5");
    assert_int_equal(rig->status, 0);
    SAYS(rig, "the machine has shut down");
    assert_int_equal(state_now(rig), POWER_OFF);
    go_down(rig, "S5");
    assert_int_equal(rig->status, 0);
    want_file(rig, "orders", "power 1\nshutdown 1\n");
}

static void a_machine_that_does_not_shut_down_is_switched_off(void **state)
{
    struct rig *rig = *state;
    controller(rig, "1", "rude");
    rig->node.bmc_sleep = "soft";
    go_down(rig, "S5");
    assert_int_equal(rig->status, -ETIMEDOUT);
    SAYS(rig, "did not shut down in time");
    want_file(rig, "orders", "shutdown 1\n");
    rig->node.bmc_sleep = "graceful";
    go_down(rig, "S5");
    assert_int_equal(rig->status, 0);
    SAYS(rig, "was switched off");
    want_file(rig, "orders", "shutdown 1\nshutdown 1\npower 0\n");
    wake(rig);
    rig->node.bmc_sleep = "off";
    go_down(rig, "S5");
    assert_int_equal(rig->status, 0);
    want_file(rig, "orders", "shutdown 1\nshutdown 1\npower 0\npower 1\npower 0\n");
}

static void a_controller_that_takes_orders_and_does_nothing_has_one(void **state)
{
    struct rig *rig = *state;
    controller(rig, "0", "deaf");
    rig->node.deadline_ms = 1000;
    wake(rig);
    assert_int_equal(rig->status, -ETIMEDOUT);
    want_file(rig, "orders", "power 1\n");
}

static void a_controller_that_wrongly_says_on_is_not_made_to_cycle(void **state)
{
    struct rig *rig = *state;
    controller(rig, "1", "good");
    for (int i = 0; i < 3; i++) {
        wake(rig);
        assert_int_equal(rig->status, 0);
    }
    want_file(rig, "orders", "");
}

static void a_wrong_password_orders_nothing(void **state)
{
    struct rig *rig = *state;
    controller(rig, "0", "good");
    write_file(rig, "password", "se-cret-8\n", 0600);
    rig->node.deadline_ms = 1000;
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    wake(rig);
    assert_true(rig->status == -ETIMEDOUT || rig->status == -EIO);
    go_down(rig, "S5");
    assert_true(rig->status == -ETIMEDOUT || rig->status == -EIO);
    want_file(rig, "orders", "");
}

static void who_may_not_switch_is_refused_by_the_controller(void **state)
{
    struct rig *rig = *state;
    controller(rig, "0", "good");
    rig->node.bmc_privilege = "USER"; /* who may ask and no more */
    assert_int_equal(state_now(rig), POWER_OFF);
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "Insufficient privilege level");
    want_file(rig, "orders", "");
}

static void nobody_there_is_unknown(void **state)
{
    struct rig *rig = *state;
    if (access("/usr/bin/ipmitool", X_OK) != 0) {
        skip();
    }
    rig->node.deadline_ms = 300;
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    wake(rig);
    assert_int_equal(rig->status, -ETIMEDOUT);
    SAYS(rig, "did not answer in time");
}

/* ---- what stands in for ipmitool */

static void use_script(struct rig *rig, const char *text)
{
    char all[1000];
    (void)snprintf(all, sizeof all, "#!/bin/sh\ncd %s || exit 9\n%s\n", rig->dir, text);
    write_file(rig, "script", all, 0755);
    rig->node.bmc_program = rig->script;
}

static void an_answer_that_is_not_word_for_word_is_unknown_and_nothing_is_ordered(void **state)
{
    struct rig *rig = *state;
    static const char *const ANSWERS[] = {
        "",
        "on",
        "Chassis Power is on or off\\n",
        "Chassis Power is on",
        "Chassis Power is on\\nChassis Power is off\\n",
        "Chassis Power is off\\n\\n",
        "chassis power is off\\n",
        " Chassis Power is off\\n",
    };
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++) {
        char text[300];
        (void)snprintf(text, sizeof text, "for w; do :; done; echo $w >>words; printf '%s'",
                       ANSWERS[i]);
        use_script(rig, text);
        assert_int_equal(state_now(rig), POWER_UNKNOWN);
        wake(rig);
        assert_int_equal(rig->status, -EIO);
        SAYS(rig, "no order was sent");
        go_down(rig, "S5");
        assert_int_equal(rig->status, -EIO);
    }
    char *words = read_file(rig, "words");
    assert_null(strstr(words, "on"));
    assert_null(strstr(words, "soft"));
    assert_null(strstr(words, "off"));
    mem_free(words);
}

static void nothing_after_the_words_is_overlooked(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "for w; do :; done; echo $w >>words; printf 'Chassis Power is off\\n\\000x'");
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    want_file(rig, "words", "status\nstatus\n");
}

/* ---- turns */

#define MANY (BMC_PROGRAMS_MAX + 8)

/* Each run notes how many there are, itself among them, and waits for the gate. */
static const char GATED[] = "for w; do :; done\n"
                            "mkdir here.$$; set -- here.*; echo $# $w >>counts\n"
                            "until [ -e gate ]; do sleep 0.01; done\n"
                            "rmdir here.$$; echo 'Chassis Power is on'";

struct many {
    struct rig *rig;
    unsigned over, on, late;
    unsigned count; /* of them; 0: MANY */
    bool all;
};

static void one_told(void *arg, enum power_state state, const char *text)
{
    struct many *many = arg;
    many->over++;
    many->late += strstr(text, "in time") != NULL;
    many->on += state == POWER_ON;
    many->all = many->over == (many->count > 0 ? many->count : MANY);
}

static unsigned lines_of(struct rig *rig, const char *name)
{
    unsigned count = 0;
    char *all = read_file(rig, name);
    for (const char *at = all; *at != '\0'; at++) {
        count += *at == '\n';
    }
    mem_free(all);
    return count;
}

static void until_lines(struct rig *rig, const char *name, unsigned count)
{
    LOOP_RIG_UNTIL(rig->loop, lines_of(rig, name) >= count, "%u lines in %s", count, name);
}

static void until_all_run(struct rig *rig)
{
    until_lines(rig, "counts", BMC_PROGRAMS_MAX);
}

static void so_many_programs_run_at_once_and_no_more(void **state)
{
    struct rig *rig = *state;
    struct many many = {.rig = rig};
    use_script(rig, GATED);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(power_status(rig->power, &rig->node, one_told, &many, NULL), 0);
    }
    until_all_run(rig);
    assert_int_equal(many.over, 0);
    write_file(rig, "gate", "", 0600);
    loop_run_until(rig->loop, &many.all);
    assert_int_equal(many.on, MANY);
    assert_int_equal(lines_of(rig, "counts"), MANY);
    char *counts = read_file(rig, "counts");
    for (char *line = counts; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_in_range(strtol(line, NULL, 10), 1, BMC_PROGRAMS_MAX);
    }
    mem_free(counts);
}

static void who_waits_for_a_turn_loses_no_time_by_it(void **state)
{
    struct rig *rig = *state;
    struct many many = {.rig = rig};
    char hangs[100];
    (void)snprintf(hangs, sizeof hangs, "%s/hangs", rig->dir);
    write_file(rig, "hangs", "#!/bin/sh\nexec sleep 100\n", 0755);
    use_script(rig, GATED);
    for (int i = 0; i < MANY; i++) {
        if (i == BMC_PROGRAMS_MAX) {
            until_all_run(rig);
            rig->node.deadline_ms = 1000; /* of those that wait */
            rig->node.bmc_program = "/bin/echo";
        }
        rig->node.bmc_program = i == MANY - 1 ? hangs : rig->node.bmc_program;
        assert_int_equal(power_status(rig->power, &rig->node, one_told, &many, NULL), 0);
    }
    rig->node.deadline_ms = 1100;
    assert_int_equal(power_sleep(rig->power, &rig->node, "S5", done, rig, NULL), 0);
    until_over(rig); /* what is to go down is so by its deadline, or not at all */
    assert_int_equal(rig->status, -ETIMEDOUT);
    SAYS(rig, "controllers answer slowly");
    assert_int_equal(many.over, 0);
    write_file(rig, "gate", "", 0600);
    loop_run_until(rig->loop, &many.all);
    assert_int_equal(many.on, BMC_PROGRAMS_MAX);
    assert_int_equal(many.late, 1); /* the last, from its turn on */
}

static void a_sleep_that_is_taken_back_orders_nothing_more(void **state)
{
    struct rig *rig = *state;
    struct many many = {.rig = rig};
    use_script(rig, "for w; do :; done; echo $w >>words; echo 'Chassis Power is on'");
    assert_int_equal(power_sleep(rig->power, &rig->node, "S5", done, rig, NULL), 0);
    until_lines(rig, "words", 3); /* asked, shut down, asked */
    power_sleep_cancel(rig->power, rig);
    until_over(rig);
    assert_int_equal(rig->status, -ECANCELED);
    uint64_t end_ms = loop_now_ms(rig->loop) + 1500; /* its patience is one second */
    while (loop_now_ms(rig->loop) < end_ms) {
        assert_int_equal(state_now(rig), POWER_ON);
        (void)usleep(100000);
    }
    char *words = read_file(rig, "words");
    assert_memory_equal(words, "status\nsoft\nstatus\n", 19);
    assert_null(strstr(words, "off"));
    mem_free(words);

    use_script(rig, GATED); /* and one that has not had its turn yet */
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(power_status(rig->power, &rig->node, one_told, &many, NULL), 0);
    }
    until_all_run(rig);
    assert_int_equal(power_sleep(rig->power, &rig->node, "S5", done, rig, NULL), 0);
    power_sleep_cancel(rig->power, rig);
    until_over(rig);
    assert_int_equal(rig->status, -ECANCELED);
    write_file(rig, "gate", "", 0600);
    loop_run_until(rig->loop, &many.all);
    assert_int_equal(many.on, MANY);
    assert_int_equal(lines_of(rig, "counts"), MANY);
}

/* Without its turn first, those that wait would have all places, until the second gate is open. */
static void a_sleep_has_its_turn_before_others(void **state)
{
    struct rig *rig = *state;
    struct many many = {.rig = rig, .count = 2 * BMC_PROGRAMS_MAX};
    char waits[100];
    (void)snprintf(waits, sizeof waits, "%s/waits", rig->dir);
    write_file(rig, "waits",
               "#!/bin/sh\ncd \"${0%/*}\"\nuntil [ -e second ]; do sleep 0.01; done\n"
               "echo 'Chassis Power is on'\n",
               0755);
    use_script(rig, GATED);
    rig->node.deadline_ms = 60000;
    for (unsigned i = 0; i < many.count; i++) {
        if (i == BMC_PROGRAMS_MAX) {
            until_all_run(rig);
            use_script(rig, "for w; do :; done; echo $w >>order; echo 'Chassis Power is off'");
            rig->node.bmc_program = waits;
        }
        assert_int_equal(power_status(rig->power, &rig->node, one_told, &many, NULL), 0);
    }
    rig->node.bmc_program = rig->script;
    rig->node.bmc_sleep = "off";
    rig->status = 1; /* it is not over */
    assert_int_equal(power_sleep(rig->power, &rig->node, "S5", done, rig, NULL), 0);
    write_file(rig, "gate", "", 0600);
    until_lines(rig, "order", 1);
    assert_in_range(many.over, 1, BMC_PROGRAMS_MAX); /* none that came after these */
    write_file(rig, "second", "", 0600);
    rig->over = rig->status != 1;
    loop_run_until(rig->loop, &rig->over);
    assert_int_equal(rig->status, 0);
    loop_run_until(rig->loop, &many.all);
    assert_int_equal(many.on, many.count);
}

static void an_answer_of_a_program_that_fails_is_not_believed(void **state)
{
    struct rig *rig = *state;
    use_script(rig,
               "echo 'Chassis Power is off'; echo 'first' >&2; echo 'no \tsession' >&2; exit 1");
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "n1 (ipmi): no  session");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "no  session");
    use_script(rig, "echo 'Chassis Power is off'; exit 3");
    wake(rig);
    SAYS(rig, "ipmitool ended with status 3");
    use_script(rig, "echo 'Chassis Power is off'; kill -9 $$");
    wake(rig);
    SAYS(rig, "ended by a signal");
}

static void an_order_that_is_refused_ends_it(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "for w; do :; done; echo $w >>words\n"
                    "[ $w = status ] && echo 'Chassis Power is off' && exit 0\n"
                    "echo 'Insufficient privilege level' >&2; exit 1");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "Insufficient privilege level");
    want_file(rig, "words", "status\non\n");
}

static void a_program_that_hangs_is_killed_at_the_deadline(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "mkfifo gate; echo $$ >pid; read -r line <gate");
    rig->node.deadline_ms = 500;
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "did not answer in time");
    char *pid = read_file(rig, "pid");
    if (pid[0] != '\0') { /* it had come so far */
        uint64_t end_ms = loop_now_ms(rig->loop) + 10000;
        while (os_start_time(rig->os, (pid_t)strtol(pid, NULL, 10)) != 0 &&
               loop_now_ms(rig->loop) < end_ms) {
            (void)usleep(1000);
        }
        assert_true(loop_now_ms(rig->loop) < end_ms);
    }
    mem_free(pid);
}

static void an_endless_answer_is_an_error(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "head -c 3000000 /dev/zero");
    wake(rig);
    assert_int_equal(rig->status, -EMSGSIZE);
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
}

static void complaints_without_end_are_cut(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 1");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "xxxx");
}

static void the_password_is_in_no_argument_and_no_variable(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "echo \"$@\" >arguments; env >variables; echo 'Chassis Power is on'");
    rig->node.bmc = "[::1]:9001";
    assert_int_equal(state_now(rig), POWER_ON);
    char want[400];
    (void)snprintf(want, sizeof want,
                   "-I lanplus -H ::1 -p 9001 -U op -f %s -L OPERATOR -C 3 chassis power status\n",
                   rig->password);
    want_file(rig, "arguments", want);
    char *variables = read_file(rig, "variables");
    assert_non_null(strstr(variables, "LC_ALL=C"));
    assert_null(strstr(variables, PASSWORD));
    mem_free(variables);
    rig->node.bmc = "bmc1";
    rig->node.cipher_suite = 0;
    rig->node.bmc_privilege = "ADMINISTRATOR";
    assert_int_equal(state_now(rig), POWER_ON);
    (void)snprintf(want, sizeof want,
                   "-I lanplus -H bmc1 -p 623 -U op -f %s -L ADMINISTRATOR chassis power status\n",
                   rig->password);
    want_file(rig, "arguments", want);
}

static void a_password_that_others_may_read_is_not_used(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "echo ran >>words");
    write_file(rig, "password", PASSWORD "\n", 0640);
    wake(rig);
    assert_int_equal(rig->status, -EACCES);
    SAYS(rig, rig->password);
    write_file(rig, "password", "123456789012345678901\n", 0600); /* one too many for IPMI */
    wake(rig);
    assert_int_equal(rig->status, -EINVAL);
    assert_int_equal(os_remove(rig->os, rig->password, NULL), 0);
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    want_file(rig, "words", "");
}

static void levels_other_than_5_are_not_a_controllers(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "echo ran >>words");
    go_down(rig, "S3");
    assert_int_equal(rig->status, -ENOTSUP);
    go_down(rig, "S4");
    assert_int_equal(rig->status, -ENOTSUP);
    want_file(rig, "words", "");
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct rig *rig = *state;
    rig->node.bmc_program = "/nonexistent/ipmitool";
    wake(rig);
    assert_int_equal(rig->status, -ENOENT);
    SAYS(rig, "/nonexistent/ipmitool");
}

static void a_description_that_lacks_something_is_refused(void **state)
{
    struct rig *rig = *state;
    const struct power_node good = rig->node;
    static const char *const BAD[] = {"",    "-H",   "a b",    "a\nb",    "h:0",  "h:65536", "h:",
                                      "h:x", "[::1", "[::1]x", "[::1]:0", "[]:5", ":623"};
    static const char *const GOOD[] = {"h", "h:1", "10.0.0.1:65535", "::1", "[::1]", "[::1]:623"};
    struct err err;
    assert_int_equal(power_check(&rig->node, &err), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        rig->node.bmc = BAD[i];
        assert_int_equal(power_check(&rig->node, &err), -EINVAL);
        assert_non_null(strstr(err.text, "bmc"));
    }
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        rig->node.bmc = GOOD[i];
        assert_int_equal(power_check(&rig->node, &err), 0);
    }
    rig->node.bmc = NULL;
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_user = "-U";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node.bmc_user = "seventeen-letters";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_password_file = "password";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_program = "ipmitool";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_sleep = "cycle";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
}

static void what_is_under_way_is_dropped_without_a_word(void **state)
{
    struct rig *rig = *state;
    use_script(rig, "mkfifo gate; read -r line <gate");
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    power_destroy(rig->power);
    rig->power = NULL;
    assert_false(rig->over);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_machine_is_switched_on_and_shut_down),
        CASE(a_machine_that_does_not_shut_down_is_switched_off),
        CASE(a_controller_that_takes_orders_and_does_nothing_has_one),
        CASE(a_controller_that_wrongly_says_on_is_not_made_to_cycle),
        CASE(a_wrong_password_orders_nothing),
        CASE(who_may_not_switch_is_refused_by_the_controller),
        CASE(nobody_there_is_unknown),
        CASE(an_answer_that_is_not_word_for_word_is_unknown_and_nothing_is_ordered),
        CASE(nothing_after_the_words_is_overlooked),
        CASE(so_many_programs_run_at_once_and_no_more),
        CASE(who_waits_for_a_turn_loses_no_time_by_it),
        CASE(a_sleep_has_its_turn_before_others),
        CASE(a_sleep_that_is_taken_back_orders_nothing_more),
        CASE(an_answer_of_a_program_that_fails_is_not_believed),
        CASE(an_order_that_is_refused_ends_it),
        CASE(a_program_that_hangs_is_killed_at_the_deadline),
        CASE(an_endless_answer_is_an_error),
        CASE(complaints_without_end_are_cut),
        CASE(the_password_is_in_no_argument_and_no_variable),
        CASE(a_password_that_others_may_read_is_not_used),
        CASE(levels_other_than_5_are_not_a_controllers),
        CASE(a_program_that_is_not_there_is_named),
        CASE(a_description_that_lacks_something_is_refused),
        CASE(what_is_under_way_is_dropped_without_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
