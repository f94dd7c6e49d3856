/* The method redfish, with the real curl and a Redfish service that is a program
 * (tests/support/redfish_server.py; tests/integration/redfish_server.sh says what others think of
 * it).
 *
 * TIMEOUT: 120
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "power/power.h"

#define PASSWORD "pa\"ss\\w\xc3\xb6rt"
#define RESET    "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "

struct rig {
    char dir[FAST_DIR_SIZE + 4], password[100], ca[100], script[100], bmc[60];
    struct loop *loop;
    struct os *os;
    struct power *power;
    bool over;
    int status;
    enum power_state state;
    char text[512];
    struct power_node node;
};

static void write_file(struct rig *rig, const char *name, const char *text, mode_t mode)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", rig->dir, name);
    assert_int_equal(os_write_file(rig->os, path, text, strlen(text), mode, false, NULL), 0);
}

/* "" when there is none */
static char *read_file(struct rig *rig, const char *name)
{
    char path[300], *data = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof path, "%s/%s", rig->dir, name);
    return os_read_file(rig->os, path, 1000000, &data, &length, NULL) == 0 ? data : mem_strdup("");
}

static void run(struct os *os, const char *const *argv)
{
    struct os_exit how;
    const struct os_spawn spec = {.argv = argv, .new_session = true};
    assert_int_equal(os_run(os, &spec, 30000, &how, NULL), 0);
    assert_int_equal(how.status, 0);
}

/* The services of all tests, one for each, are one program. */
static struct {
    char dir[FAST_DIR_SIZE];
    struct loop *loop;
    struct os *os;
    pid_t pid;
    unsigned next; /* of the next test */
} servers;

#define SERVERS_MAX 40

static void start_servers(void)
{
    static char folders[SERVERS_MAX][FAST_DIR_SIZE + 4];
    const char *argv[SERVERS_MAX + 3] = {"/usr/bin/python3"};
    char script[400], key[100], cert[100], out[100], whose[60];
    const char *source = getenv("ROOST_SRC");
    assert_non_null(source);
    loop_rig_open(&servers.loop, &servers.os, servers.dir);
    (void)snprintf(script, sizeof script, "%s/tests/support/redfish_server.py", source);
    (void)snprintf(out, sizeof out, "%s/out", servers.dir);
    (void)snprintf(key, sizeof key, "%s/key.pem", servers.dir);
    (void)snprintf(cert, sizeof cert, "%s/cert.pem", servers.dir);
    const char *make[] = {"/usr/bin/openssl",
                          "req",
                          "-x509",
                          "-newkey",
                          "ec",
                          "-pkeyopt",
                          "ec_paramgen_curve:P-256",
                          "-nodes",
                          "-days",
                          "2",
                          "-subj",
                          "/CN=bmc",
                          "-addext",
                          "subjectAltName=IP:127.0.0.1",
                          "-keyout",
                          key,
                          "-out",
                          cert,
                          NULL};
    run(servers.os, make);
    argv[1] = script;
    for (unsigned i = 0; i < SERVERS_MAX; i++) {
        (void)snprintf(folders[i], sizeof folders[i], "%s/%u", servers.dir, i);
        assert_int_equal(os_mkdirs(servers.os, folders[i], 0700, NULL), 0);
        argv[i + 2] = folders[i];
    }
    (void)snprintf(whose, sizeof whose, "REDFISH_SERVER_OF=%d", (int)getpid());
    const char *env_add[] = {whose, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .stdout_path = out,
                                  .stderr_path = out,
                                  .kin = OS_DETACHED};
    assert_int_equal(os_spawn(servers.os, &spec, NULL, NULL, &servers.pid, NULL), 0);
}

static void stop_servers(void)
{
    (void)os_kill(servers.os, servers.pid, SIGKILL);
    loop_rig_close(servers.loop, servers.os, servers.dir);
}

static void find_server(struct rig *rig)
{
    char *port = read_file(rig, "port");
    uint64_t end_ms = loop_now_ms(rig->loop) + 60000;
    while (port[0] == '\0') {
        assert_true(loop_now_ms(rig->loop) < end_ms);
        (void)usleep(5000);
        mem_free(port);
        port = read_file(rig, "port");
    }
    (void)snprintf(rig->bmc, sizeof rig->bmc, "127.0.0.1:%d", (int)strtol(port, NULL, 10));
    mem_free(port);
}

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    assert_true(servers.next < SERVERS_MAX);
    (void)snprintf(rig->dir, sizeof rig->dir, "%s/%u", servers.dir, servers.next++);
    assert_int_equal(loop_create(&rig->loop, NULL), 0);
    assert_int_equal(os_create(rig->loop, &rig->os, NULL), 0);
    rig->power = power_create(rig->loop, rig->os, NULL);
    (void)snprintf(rig->password, sizeof rig->password, "%s/password", rig->dir);
    (void)snprintf(rig->ca, sizeof rig->ca, "%s/cert.pem", servers.dir);
    (void)snprintf(rig->script, sizeof rig->script, "%s/script", rig->dir);
    write_file(rig, "password", PASSWORD "\n", 0600);
    write_file(rig, "power", "Off", 0600);
    write_file(rig, "mood", "", 0600);
    find_server(rig);
    rig->node = (struct power_node){.name = "n1",
                                    .method = "redfish",
                                    .bmc = rig->bmc,
                                    .bmc_user = "op",
                                    .bmc_program = "/usr/bin/curl",
                                    .bmc_ca = rig->ca,
                                    .shutdown_timeout_s = 1,
                                    .bmc_password_file = rig->password};
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    power_destroy(rig->power);
    os_destroy(rig->os);
    loop_destroy(rig->loop);
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

static void go_down(struct rig *rig)
{
    assert_int_equal(power_sleep(rig->power, &rig->node, "S5", done, rig, NULL), 0);
    until_over(rig);
}

static enum power_state state_now(struct rig *rig)
{
    assert_int_equal(power_status(rig->power, &rig->node, status_done, rig, NULL), 0);
    until_over(rig);
    return rig->state;
}

#define SAYS(rig, words) assert_non_null(strstr((rig)->text, words))

static void mood(struct rig *rig, const char *words)
{
    write_file(rig, "mood", words, 0600);
}

/* How many requests were that. */
static unsigned requests(struct rig *rig, const char *beginning)
{
    unsigned count = 0;
    char *all = read_file(rig, "requests");
    for (const char *at = all; (at = strstr(at, beginning)) != NULL; at++) {
        count += at == all || at[-1] == '\n';
    }
    mem_free(all);
    return count;
}

static void power_is(struct rig *rig, const char *want)
{
    char *power = read_file(rig, "power");
    assert_string_equal(power, want);
    mem_free(power);
}

static void a_machine_is_switched_on_and_shut_down(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(state_now(rig), POWER_OFF);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "n1 (redfish): switched on");
    power_is(rig, "On");
    assert_int_equal(state_now(rig), POWER_ON);
    wake(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "says that the machine is on");
    go_down(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "the machine has shut down");
    power_is(rig, "Off");
    assert_int_equal(requests(rig, RESET), 2);
    assert_int_equal(requests(rig, RESET "204 On\n"), 1);
    assert_int_equal(requests(rig, RESET "204 GracefulShutdown\n"), 1);
}

static void every_session_that_was_made_is_deleted(void **state)
{
    struct rig *rig = *state;
    (void)state_now(rig);
    wake(rig);
    uint64_t end_ms = loop_now_ms(rig->loop) + 30000;
    assert_int_equal(requests(rig, "session\n"), 2);
    while (requests(rig, "DELETE /redfish/v1/SessionService/Sessions/") < 2) {
        assert_true(loop_now_ms(rig->loop) < end_ms);
        (void)usleep(5000);
    }
    char *all = read_file(rig, "requests");
    for (const char *at = all; (at = strstr(at, "\nDELETE ")) != NULL; at++) {
        const char *end = strchr(at + 1, '\n');
        assert_true(end != NULL && strncmp(end - 4, " 204", 4) == 0);
    }
    mem_free(all);
}

static void a_machine_that_does_not_shut_down_is_switched_off(void **state)
{
    struct rig *rig = *state;
    write_file(rig, "power", "On", 0600);
    mood(rig, "rude");
    rig->node.bmc_sleep = "soft";
    go_down(rig);
    assert_int_equal(rig->status, -ETIMEDOUT);
    power_is(rig, "On");
    rig->node.bmc_sleep = NULL;
    go_down(rig);
    assert_int_equal(rig->status, 0);
    SAYS(rig, "was switched off");
    power_is(rig, "Off");
    assert_int_equal(requests(rig, RESET "204 ForceOff\n"), 1);
}

static void an_order_that_is_a_task_is_followed_to_its_end(void **state)
{
    struct rig *rig = *state;
    mood(rig, "task");
    wake(rig);
    assert_int_equal(rig->status, 0);
    power_is(rig, "On");
    assert_int_equal(requests(rig, RESET "202 On\n"), 1);
    assert_int_equal(requests(rig, "GET /redfish/v1/TaskService/TaskMonitors/"), 2);
}

static void a_task_that_fails_is_a_failure_with_its_reason(void **state)
{
    struct rig *rig = *state;
    mood(rig, "broken");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "a fuse has blown");
    power_is(rig, "Off");
}

static void a_session_that_is_forgotten_is_made_again(void **state)
{
    struct rig *rig = *state;
    mood(rig, "forget");
    wake(rig);
    assert_int_equal(rig->status, 0);
    power_is(rig, "On");
    assert_true(requests(rig, "session\n") >= 2);
    assert_int_equal(requests(rig, RESET "204 On\n"), 1);
}

static void sessions_that_are_good_for_nothing_are_not_made_without_end(void **state)
{
    struct rig *rig = *state;
    mood(rig, "never");
    wake(rig);
    assert_int_equal(rig->status, -EACCES);
    SAYS(rig, "who are you?");
    assert_int_equal(requests(rig, "session\n"), 2);
    assert_int_equal(requests(rig, RESET), 0);
}

static void a_wrong_password_orders_nothing_and_is_tried_once(void **state)
{
    struct rig *rig = *state;
    write_file(rig, "password", "wrong\n", 0600);
    wake(rig);
    assert_int_equal(rig->status, -EACCES);
    SAYS(rig, "that is not the password");
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    assert_int_equal(requests(rig, "POST /redfish/v1/SessionService/Sessions 401\n"), 2);
    assert_int_equal(requests(rig, RESET), 0);
}

static void a_controller_that_wants_the_etag_gets_it(void **state)
{
    struct rig *rig = *state;
    mood(rig, "etag");
    wake(rig);
    assert_int_equal(rig->status, 0);
    power_is(rig, "On");
    assert_int_equal(requests(rig, RESET "428 On\n"), 1);
    assert_int_equal(requests(rig, RESET "204 On\n"), 1);
}

static void a_stale_etag_is_fetched_again(void **state)
{
    struct rig *rig = *state;
    mood(rig, "conflict");
    wake(rig);
    assert_int_equal(rig->status, 0);
    power_is(rig, "On");
    assert_int_equal(requests(rig, RESET "412 On\n"), 1);
    assert_int_equal(requests(rig, RESET "204 On\n"), 1);
}

static void what_somebody_else_has_switched_meanwhile_is_left_alone(void **state)
{
    struct rig *rig = *state;
    mood(rig, "switched");
    wake(rig);
    assert_int_equal(rig->status, -EAGAIN);
    SAYS(rig, "another client");
    assert_int_equal(requests(rig, RESET "204"), 0);
}

static void a_busy_controller_is_asked_again(void **state)
{
    struct rig *rig = *state;
    mood(rig, "busy");
    assert_int_equal(state_now(rig), POWER_OFF);
    assert_true(requests(rig, "POST /redfish/v1/SessionService/Sessions 503\n") >= 1);
}

static void reset_types_are_looked_up_where_the_controller_says(void **state)
{
    struct rig *rig = *state;
    mood(rig, "info");
    wake(rig);
    assert_int_equal(rig->status, 0);
    assert_int_equal(requests(rig, "GET /redfish/v1/Systems/1/ResetActionInfo 200\n"), 1);
    go_down(rig);
    assert_int_equal(rig->status, 0);
    mood(rig, "untold");
    wake(rig);
    assert_int_equal(rig->status, 0);
    power_is(rig, "On");
}

static void no_button_is_pressed_and_nothing_is_restarted(void **state)
{
    struct rig *rig = *state;
    static const char *const MOODS[] = {"button", "button info"};
    for (size_t i = 0; i < 2; i++) {
        mood(rig, MOODS[i]);
        write_file(rig, "power", "Off", 0600);
        wake(rig);
        assert_int_equal(rig->status, -ENOTSUP);
        SAYS(rig, "does not support 'power on'");
        write_file(rig, "power", "On", 0600);
        go_down(rig);
        assert_int_equal(rig->status, -ENOTSUP);
        SAYS(rig, "does not support 'shutdown'");
    }
    assert_int_equal(requests(rig, RESET), 0);
}

static void an_answer_of_no_use_is_unknown_and_nothing_is_ordered(void **state)
{
    struct rig *rig = *state;
    static const char *const MOODS[] = {"unknown", "garbage", "redirect"};
    for (size_t i = 0; i < 3; i++) {
        mood(rig, MOODS[i]);
        assert_int_equal(state_now(rig), POWER_UNKNOWN);
        wake(rig);
        assert_true(rig->status < 0);
        go_down(rig);
        assert_true(rig->status < 0);
    }
    assert_int_equal(requests(rig, RESET), 0);
}

static void a_controller_that_takes_orders_and_does_nothing_has_one(void **state)
{
    struct rig *rig = *state;
    mood(rig, "deaf");
    rig->node.deadline_ms = 1000;
    wake(rig);
    assert_int_equal(rig->status, -ETIMEDOUT);
    assert_int_equal(requests(rig, RESET), 1);
}

static void a_controller_says_when_to_come_again(void **state)
{
    struct rig *rig = *state;
    mood(rig, "task later");
    uint64_t begin_ms = loop_now_ms(rig->loop);
    wake(rig);
    assert_int_equal(rig->status, 0);
    assert_true(loop_now_ms(rig->loop) - begin_ms >= 1000);
    assert_int_equal(requests(rig, "GET /redfish/v1/TaskService/TaskMonitors/"), 2);
}

static void a_controller_that_dies_after_the_order_gets_no_other(void **state)
{
    struct rig *rig = *state;
    mood(rig, "dies");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    SAYS(rig, "curl ended with status");
    assert_true(requests(rig, "GET /redfish/v1/Systems/1 unanswered") >= 1);
    wake(rig);
    assert_int_equal(rig->status, -EIO);
    assert_int_equal(requests(rig, RESET), 1);
}

static void a_session_without_a_token_is_none(void **state)
{
    struct rig *rig = *state;
    mood(rig, "tokenless");
    wake(rig);
    assert_int_equal(rig->status, -EPROTO);
    SAYS(rig, "no session token");
    assert_int_equal(requests(rig, "GET"), 0);
}

static void an_order_that_is_refused_ends_it(void **state)
{
    struct rig *rig = *state;
    mood(rig, "refuse");
    wake(rig);
    assert_int_equal(rig->status, -EACCES);
    SAYS(rig, "answered HTTP status 403 to power on: you may look");
    assert_int_equal(requests(rig, RESET), 1);
}

static void a_session_is_deleted_though_nobody_waits_for_it(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(state_now(rig), POWER_OFF);
    power_destroy(rig->power);
    rig->power = NULL;
    LOOP_RIG_UNTIL(rig->loop, requests(rig, "DELETE /redfish/v1/SessionService/Sessions/") > 0, "");
}

static void an_answer_that_is_too_long_or_cut_is_unknown(void **state)
{
    struct rig *rig = *state;
    static const char *const MOODS[] = {"huge", "cut"};
    for (size_t i = 0; i < 2; i++) {
        mood(rig, MOODS[i]);
        assert_int_equal(state_now(rig), POWER_UNKNOWN);
        wake(rig);
        assert_true(rig->status < 0);
    }
    assert_int_equal(requests(rig, RESET), 0);
}

static void what_lasts_and_is_forgotten_and_wants_its_etag_is_ordered_once(void **state)
{
    struct rig *rig = *state;
    mood(rig, "conflict task forget");
    wake(rig);
    assert_int_equal(rig->status, 0);
    power_is(rig, "On");
    assert_true(requests(rig, "session\n") >= 3);
    assert_int_equal(requests(rig, RESET "202 On\n"), 1);
    go_down(rig);
    assert_int_equal(rig->status, 0);
    assert_int_equal(requests(rig, RESET "202 GracefulShutdown\n"), 1);
    assert_int_equal(requests(rig, RESET "202"), 2);
}

static void one_of_two_systems_has_to_be_named(void **state)
{
    struct rig *rig = *state;
    mood(rig, "two");
    wake(rig);
    assert_int_equal(rig->status, -EINVAL);
    SAYS(rig, "has 2 systems");
    rig->node.bmc_system = "1";
    assert_int_equal(state_now(rig), POWER_OFF);
    rig->node.bmc_system = "/redfish/v1/Systems/1";
    assert_int_equal(state_now(rig), POWER_OFF);
    rig->node.bmc_system = "2";
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "answered HTTP status 404");
}

static void a_controller_that_is_not_the_one_is_told_nothing(void **state)
{
    struct rig *rig = *state;
    rig->node.bmc_ca = NULL; /* this host trusts it not */
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "curl ended with status 60");
    rig->node.bmc_pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "curl ended with status 90");
    rig->node.bmc_ca = rig->ca;
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "curl ended with status 90");
    assert_int_equal(requests(rig, "POST"), 0);
}

static void a_controller_is_known_by_its_key_alone(void **state)
{
    struct rig *rig = *state;
    char command[600];
    (void)snprintf(command, sizeof command,
                   "openssl x509 -in %s -pubkey -noout | openssl pkey -pubin -outform der |"
                   " openssl dgst -sha256 -binary | base64 >%s/pin",
                   rig->ca, rig->dir);
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    run(rig->os, argv);
    char *pin = read_file(rig, "pin"), text[100];
    (void)snprintf(text, sizeof text, "sha256//%.*s", (int)strcspn(pin, "\n"), pin);
    mem_free(pin);
    rig->node.bmc_ca = NULL;
    rig->node.bmc_pin = text;
    assert_int_equal(state_now(rig), POWER_OFF);
}

static void nobody_there_is_unknown(void **state)
{
    struct rig *rig = *state;
    rig->node.bmc = "127.0.0.1:1";
    assert_int_equal(state_now(rig), POWER_UNKNOWN);
    SAYS(rig, "curl ended with status 7");
    wake(rig);
    assert_int_equal(rig->status, -EIO);
}

static void password_and_token_are_in_no_argument_and_no_variable(void **state)
{
    struct rig *rig = *state;
    char text[400];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\necho \"$@\" >>%s/seen; env >>%s/seen\nexec curl \"$@\"\n", rig->dir,
                   rig->dir);
    write_file(rig, "script", text, 0755);
    rig->node.bmc_program = rig->script;
    wake(rig);
    assert_int_equal(rig->status, 0);
    char *seen = read_file(rig, "seen");
    assert_non_null(strstr(seen, "-q -K -\n"));
    assert_null(strstr(seen, "ss\\w"));
    assert_null(strstr(seen, "X-Auth-Token"));
    assert_null(strstr(seen, "/redfish/"));
    mem_free(seen);
    write_file(rig, "password", PASSWORD "\n", 0644);
    wake(rig);
    assert_int_equal(rig->status, -EACCES);
    SAYS(rig, rig->password);
}

static void a_description_that_lacks_something_is_refused(void **state)
{
    struct rig *rig = *state;
    const struct power_node good = rig->node;
    struct err err;
    static const char *const BAD[] = {"", "a b", "http://h", "h/path", "h\"", "u@h", "https://"};
    assert_int_equal(power_check(&rig->node, &err), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        rig->node.bmc = BAD[i];
        assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    }
    rig->node.bmc = "https://h:8443";
    assert_int_equal(power_check(&rig->node, &err), 0);
    rig->node.bmc_system = "../x";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node.bmc_system = "a\"b";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_ca = "ca.pem";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_pin = "md5//";
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
    rig->node = good;
    rig->node.bmc_user = NULL;
    assert_int_equal(power_check(&rig->node, &err), -EINVAL);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    if (access("/usr/bin/curl", X_OK) != 0 || access("/usr/bin/openssl", X_OK) != 0) {
        print_message("skipped: no curl or openssl here (make deps)\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        CASE(a_machine_is_switched_on_and_shut_down),
        CASE(every_session_that_was_made_is_deleted),
        CASE(a_machine_that_does_not_shut_down_is_switched_off),
        CASE(an_order_that_is_a_task_is_followed_to_its_end),
        CASE(a_task_that_fails_is_a_failure_with_its_reason),
        CASE(a_session_that_is_forgotten_is_made_again),
        CASE(sessions_that_are_good_for_nothing_are_not_made_without_end),
        CASE(a_wrong_password_orders_nothing_and_is_tried_once),
        CASE(a_controller_that_wants_the_etag_gets_it),
        CASE(a_stale_etag_is_fetched_again),
        CASE(what_somebody_else_has_switched_meanwhile_is_left_alone),
        CASE(a_busy_controller_is_asked_again),
        CASE(reset_types_are_looked_up_where_the_controller_says),
        CASE(no_button_is_pressed_and_nothing_is_restarted),
        CASE(an_answer_of_no_use_is_unknown_and_nothing_is_ordered),
        CASE(a_controller_that_takes_orders_and_does_nothing_has_one),
        CASE(a_controller_says_when_to_come_again),
        CASE(a_controller_that_dies_after_the_order_gets_no_other),
        CASE(a_session_without_a_token_is_none),
        CASE(an_order_that_is_refused_ends_it),
        CASE(a_session_is_deleted_though_nobody_waits_for_it),
        CASE(an_answer_that_is_too_long_or_cut_is_unknown),
        CASE(what_lasts_and_is_forgotten_and_wants_its_etag_is_ordered_once),
        CASE(one_of_two_systems_has_to_be_named),
        CASE(a_controller_that_is_not_the_one_is_told_nothing),
        CASE(a_controller_is_known_by_its_key_alone),
        CASE(nobody_there_is_unknown),
        CASE(password_and_token_are_in_no_argument_and_no_variable),
        CASE(a_description_that_lacks_something_is_refused),
    };
    start_servers();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    stop_servers();
    return failed;
}
