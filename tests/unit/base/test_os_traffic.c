/* What a job sends and receives: counted for its processes, connection by connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/os/os_figures.h"
#include "base/os/os_linux.h"
#include "base/os/os_traffic.h"
#include "base/os/os_run.h"

#define SENT     300000
#define ANSWERED 1000
#define NO_PID   0x3fffffff /* no process has it */

/* An address of this machine that is not loopback; false: it has no network. */
static bool own_address(struct sockaddr_in *ret)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all) != 0) {
        return false;
    }
    for (const struct ifaddrs *each = all; each != NULL && !found; each = each->ifa_next) {
        if (each->ifa_addr != NULL && each->ifa_addr->sa_family == AF_INET &&
            (each->ifa_flags & IFF_LOOPBACK) == 0 && (each->ifa_flags & IFF_UP) != 0) {
            memcpy(ret, each->ifa_addr, sizeof *ret);
            found = true;
        }
    }
    freeifaddrs(all);
    ret->sin_port = 0;
    return found;
}

static void move(int fd, size_t length, bool out)
{
    char block[4096] = {0};
    while (length > 0) {
        size_t part = length < sizeof block ? length : sizeof block;
        ssize_t done = out ? write(fd, block, part) : read(fd, block, part);
        if (done <= 0) {
            _exit(1);
        }
        length -= (size_t)done;
    }
}

/* A program that sends and gets an answer, tells, and waits to be told to go on; then once more. */
static void talk(const struct sockaddr_in *to, int tell, int wait)
{
    char byte;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (connect(fd, (const struct sockaddr *)to, sizeof *to) != 0) {
        _exit(1);
    }
    for (;;) {
        move(fd, SENT, true);
        move(fd, ANSWERED, false);
        if (write(tell, "x", 1) != 1 || read(wait, &byte, 1) != 1) {
            _exit(1);
        }
    }
}

struct talker {
    pid_t pid;
    int told[2], go[2], peer;
};

static void begin(struct talker *talker, struct sockaddr_in address)
{
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(pipe(talker->told), 0);
    assert_int_equal(pipe(talker->go), 0);
    talker->pid = fork();
    if (talker->pid == 0) {
        talk(&address, talker->told[1], talker->go[0]);
    }
    talker->peer = accept(listener, NULL, NULL);
    assert_true(talker->peer >= 0);
    close(listener);
}

/* Our end of it, until the other has said that it is done. */
static void serve(struct talker *talker)
{
    char byte;
    move(talker->peer, SENT, false);
    move(talker->peer, ANSWERED, true);
    assert_int_equal(read(talker->told[0], &byte, 1), 1);
}

static void end(struct talker *talker)
{
    assert_int_equal(kill(talker->pid, SIGKILL), 0);
    assert_int_equal(waitpid(talker->pid, NULL, 0), talker->pid);
    close(talker->peer);
    for (size_t i = 0; i < 2; i++) {
        close(talker->told[i]);
        close(talker->go[i]);
    }
}

static void is_total(const struct os_traffic *net, uint64_t received, uint64_t sent)
{
    uint64_t in = 99, out = 99;
    os_traffic_total(net, &in, &out);
    assert_int_equal(in, received);
    assert_int_equal(out, sent);
}

static void what_a_program_sends_and_receives_is_counted_once_however_often_it_is_looked_at(
    void **state)
{
    struct os *os = *state;
    struct sockaddr_in address;
    struct talker talker;
    if (!own_address(&address)) {
        print_message("[          ] this machine has no network\n");
        skip();
    }
    struct os_traffic *net = os_traffic_create(os);
    os_traffic_look(net, NULL, NULL);
    is_total(net, 0, 0);
    begin(&talker, address);
    serve(&talker);
    os_traffic_look(net, NULL, NULL);
    os_traffic_look(net, NULL, NULL);
    is_total(net, ANSWERED, SENT); /* our own end of it is not our descendant's */
    assert_int_equal(write(talker.go[1], "x", 1), 1);
    serve(&talker);
    struct os_figures family = {.pids = {NO_PID}, .pid_count = 1};
    os_traffic_look(net, NULL, &family); /* who else there is is not looked for */
    is_total(net, ANSWERED, SENT);
    os_descendants_figures(os, false, &family);
    os_traffic_look(net, NULL, &family);
    is_total(net, 2 * ANSWERED, 2 * SENT);
    end(&talker);
    os_traffic_look(net, NULL, NULL);
    is_total(net, 2 * ANSWERED, 2 * SENT); /* what has ended stays */
    begin(&talker, address);
    serve(&talker);
    os_traffic_look(net, NULL, NULL);
    is_total(net, 3 * ANSWERED, 3 * SENT);
    end(&talker);
    os_traffic_destroy(net);
}

static void what_stays_within_the_machine_is_not_of_the_network(void **state)
{
    struct os *os = *state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct talker talker;
    struct os_traffic *net = os_traffic_create(os);
    begin(&talker, address);
    serve(&talker);
    os_traffic_look(net, NULL, NULL);
    is_total(net, 0, 0);
    end(&talker);
    os_traffic_destroy(net);
    os_traffic_destroy(NULL);
}

static bool may_be_tcp(int fd)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%d", fd);
    bool answer = os_may_be_tcp(getpid(), number);
    if (fd >= 0) {
        (void)close(fd);
    }
    return answer;
}

static void only_sockets_of_tcp_are_a_reason_to_ask_for_all_connections(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_false(may_be_tcp(pair[0]));
    assert_false(may_be_tcp(pair[1]));
    assert_false(may_be_tcp(socket(AF_INET, SOCK_DGRAM, 0)));
    assert_true(may_be_tcp(socket(AF_INET, SOCK_STREAM, 0)));
    assert_true(may_be_tcp(-1)); /* the kernel does not say: it is looked for */
}

static int setup(void **state)
{
    struct os *os = NULL;
    assert_int_equal(os_create(NULL, &os, NULL), 0);
    *state = os;
    return 0;
}

static int teardown(void **state)
{
    os_destroy(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_program_sends_and_receives_is_counted_once_however_often_it_is_looked_at),
        TEST(what_stays_within_the_machine_is_not_of_the_network),
        TEST(only_sockets_of_tcp_are_a_reason_to_ask_for_all_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
