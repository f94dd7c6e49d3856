/* tests/unit/base/test_stream_listen.c - listeners, the preface, passing a connection on.
 *
 * TIMEOUT: 120
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/base/stream_rig.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "base/stream/strangers.h"

/* ---- the preface ----------------------------------------------------------------------------- */

static void the_preface_may_come_in_pieces_and_nothing_behind_it_is_taken(void **state)
{
    struct rig *rig = *state;
    char address[128];
    const char text[] = "ROOST/1 shadow/alice\nhello";
    rig_listen(rig, rig_path(rig, "unix", address));
    int fd = raw_connect(rig);
    for (size_t i = 0; text[i] != '\0'; i++) {
        assert_int_equal(send(fd, text + i, 1, MSG_NOSIGNAL), 1);
        loop_rig_turn(rig->loop, 1);
        assert_int_equal(rig->incoming_count, i >= strlen("ROOST/1 shadow/alice") ? 1 : 0);
    }
    AWAIT(rig, rig->server.got_bytes == 5);
    assert_string_equal(rig->route, "shadow/alice");
    assert_string_equal(strbuf_text(&rig->server.got), "hello");
    close(fd);
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, 0);
}

static void what_is_no_preface_is_dropped_and_counted(void **state)
{
    struct rig *rig = *state;
    char longest[STREAM_ROUTE_MAX + 16], too_long[STREAM_ROUTE_MAX + 16];
    (void)snprintf(too_long, sizeof(too_long), "ROOST/1 %0*d\n", STREAM_ROUTE_MAX + 1, 7);
    (void)snprintf(longest, sizeof(longest), "ROOST/1 %0*d\n", STREAM_ROUTE_MAX, 7);
    const char *bad[] = {
        "GET / HTTP/1.1\r\n", "ROOST/2 x\n", "ROOST/1 \n",    "ROOST/1 a b\n", "\n",
        "ROOST/1 a\rb\n",     "ROOST/1\n",   "roost/1 x\n\n", too_long};
    rig_listen(rig, "tcp:127.0.0.1:0");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fd = raw_connect(rig);
        raw_send(fd, bad[i]);
        rig_await_dropped(rig, i + 1);
        char byte;
        assert_true(recv(fd, &byte, 1, 0) <= 0);
        close(fd);
    }
    assert_int_equal(rig->incoming_count, 0);
    int fd = raw_connect(rig);
    raw_send(fd, longest);
    AWAIT(rig, rig->incoming_count == 1);
    assert_int_equal(strlen(rig->route), STREAM_ROUTE_MAX);
    close(fd);
}

static void a_caller_that_hangs_up_before_its_route_is_dropped(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    int fd = raw_connect(rig);
    raw_send(fd, "ROOST/1 col");
    close(fd);
    rig_await_dropped(rig, 1);
    assert_int_equal(rig->incoming_count, 0);
}

static void a_caller_that_is_slow_to_say_its_route_is_dropped(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    uint64_t began_ms = loop_now_ms(rig->loop);
    int fd = raw_connect(rig);
    raw_send(fd, "ROOST/1 coll");
    rig_await_dropped(rig, 1);
    assert_true(loop_now_ms(rig->loop) - began_ms >= STREAM_PREFACE_MS - 100);
    close(fd);
}

/* ---- TLS protocol error
 * ------------------------------------------------------------------------------ */

static void a_cut_in_mid_handshake_is_told(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    int fd = raw_connect(rig);
    raw_send(fd, "ROOST/1 x\n\x16\x03\x01");
    AWAIT(rig, rig->incoming_count == 1);
    close(fd);
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, -ECONNRESET);
    assert_int_equal(rig->server.opened, 0);
    assert_int_equal(strncmp(rig->server.why, rig->incoming_from, strlen(rig->incoming_from)), 0);
}

static void what_is_no_tls_is_told(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    int fd = raw_connect(rig);
    raw_send(fd, "ROOST/1 x\nhello, is this the collector? I should like to know.");
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, -EPROTO);
    assert_non_null(strstr(rig->server.why, "TLS protocol error"));
    close(fd);
}

static void a_server_that_hangs_up_before_tls_is_told(void **state)
{
    struct rig *rig = *state;
    rig->keep_incoming = true;
    rig_listen(rig, "tcp:127.0.0.1:0");
    rig_connect(rig, tls_identity_pin(rig->identity));
    AWAIT(rig, rig->incoming_count == 1);
    incoming_refuse(rig->incoming);
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, -ECONNRESET);
    assert_int_equal(rig->client.opened, 0);
}

static void turn_until(struct rig *rig, bool (*is_so)(struct rig *rig, int number), int number)
{
    LOOP_RIG_UNTIL(rig->loop, is_so(rig, number), "");
}

static int raw_listen(uint16_t *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t length = sizeof(here);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &length), 0);
    *port = ntohs(here.sin_port);
    return fd;
}

/* Lets a client dial a port of the test, and returns the other end of its connection. */
static int raw_dialled(struct rig *rig)
{
    uint16_t port = 0;
    char address[64];
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    int listener = raw_listen(&port);
    (void)snprintf(address, sizeof(address), "tcp:127.0.0.1:%u", port);
    MUST(stream_connect(rig->loop, address, "collector", &trust, &END_EVENTS, &rig->client,
                        &rig->client.stream, err));
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    close(listener);
    return fd;
}

static bool is_told_to_wait(struct rig *rig, int number)
{
    (void)number;
    return stream_must_wait(rig->client.stream);
}

/* Moves what there is from one socket to the other. */
static void pump(int from, int to)
{
    char data[4096];
    ssize_t got = recv(from, data, sizeof(data), MSG_DONTWAIT);
    if (got > 0) {
        assert_int_equal(send(to, data, (size_t)got, MSG_NOSIGNAL), got);
    }
}

static bool is_open_through_pump(struct rig *rig, int fds)
{
    pump(fds / 1000, fds % 1000);
    pump(fds % 1000, fds / 1000);
    return rig->client.opened && rig->server.opened;
}

static void a_client_is_told_to_wait_and_then_served(void **state)
{
    struct rig *rig = *state;
    const char *word = "ROOST/1 wait\nROOST/1 wait\n";
    int client = raw_dialled(rig);
    for (size_t i = 0; word[i] != '\0'; i++) {
        assert_int_equal(send(client, word + i, 1, MSG_NOSIGNAL), 1);
        loop_rig_turn(rig->loop, 1);
    }
    turn_until(rig, is_told_to_wait, 0);
    assert_int_equal(rig->client.opened + rig->client.closed, 0);
    rig_listen(rig, "tcp:127.0.0.1:0");
    int server = raw_connect(rig);
    turn_until(rig, is_open_through_pump, client * 1000 + server);
    assert_false(stream_must_wait(rig->client.stream));
    assert_int_equal(stream_write(rig->client.stream, "hello", 5), 0);
    close(client);
    close(server);
}

static bool server_is_closed(struct rig *rig, int fds)
{
    pump(fds / 1000, fds % 1000); /* the server's answer stays where it is */
    return rig->server.closed;
}

static void who_has_begun_tls_is_not_sent_away_at_once(void **state)
{
    struct rig *rig = *state;
    stream_set_strangers_max(rig->loop, 1);
    int client = raw_dialled(rig);
    rig_listen(rig, "tcp:127.0.0.1:0");
    int server = raw_connect(rig);
    int other = raw_connect(rig);
    uint64_t began_ms = loop_now_ms(rig->loop);
    turn_until(rig, server_is_closed, client * 1000 + server);
    assert_int_equal(rig->server.code, -EBUSY);
    assert_true(loop_now_ms(rig->loop) - began_ms >= STRANGERS_BEGUN_MS);
    close(client);
    close(server);
    close(other);
}

static void a_word_that_is_cut_ends_the_connection(void **state)
{
    struct rig *rig = *state;
    int client = raw_dialled(rig);
    raw_send(client, "ROOST/1 wai");
    loop_rig_turn(rig->loop, 1);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, -ECONNRESET);
    close(client);
}

static void another_word_than_wait_is_no_tls(void **state)
{
    struct rig *rig = *state;
    int client = raw_dialled(rig);
    raw_send(client, "ROOST/1 wave\n");
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, -EPROTO);
    close(client);
}

/* ---- passing on ------------------------------------------------------------------------------ */

static void pass_to_route(void *arg, struct incoming *incoming)
{
    const char *path = arg;
    assert_int_equal(incoming_pass(incoming, path, NULL), 0);
}

static void a_connection_is_passed_to_another_listener_before_tls(void **state)
{
    struct rig *rig = *state;
    char pass[128];
    rig_listen(rig, rig_path(rig, "pass", pass));
    struct listener *port;
    assert_int_equal(listener_create(rig->loop, "tcp:127.0.0.1:0", pass_to_route, pass, &port,
                                     NULL),
                     0);
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    assert_int_equal(stream_connect(rig->loop, listener_address(port), "shadow/alice", &trust,
                                    &END_EVENTS, &rig->client, &rig->client.stream, NULL),
                     0);
    assert_int_equal(stream_write(rig->client.stream, "hi", 2), 0);
    AWAIT(rig, rig->server.got_bytes == 2);
    assert_string_equal(rig->route, "shadow/alice");
    assert_int_equal(strncmp(rig->incoming_from, "tcp:127.0.0.1:", 14), 0);
    listener_destroy(port);
}

/* The child is the one that passes on: it listens on the port, and keeps nothing of what it passed.
 */
static void a_connection_is_passed_to_another_process(void **state)
{
    struct rig *rig = *state;
    char pass[128], unix_address[160];
    rig_listen(rig, rig_path(rig, "pass", pass));
    (void)snprintf(unix_address, sizeof(unix_address), "unix:%s/door", rig->directory);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct loop *loop;
        struct listener *door;
        bool never = false;
        if (loop_create(&loop, NULL) != 0 ||
            listener_create(loop, unix_address, pass_to_route, pass, &door, NULL) != 0 ||
            write(ready[1], "x", 1) != 1) {
            _exit(1);
        }
        loop_run_until(loop, &never);
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(stream_connect(rig->loop, unix_address, "shadow/bob", NULL, &END_EVENTS,
                                    &rig->client, &rig->client.stream, NULL),
                     0);
    assert_int_equal(stream_write(rig->client.stream, "hi", 2), 0);
    AWAIT(rig, rig->server.got_bytes == 2);
    uid_t uid;
    pid_t pid;
    assert_true(stream_peer_uid(rig->server.stream, &uid, &pid));
    assert_int_equal(pid, getpid()); /* the caller, not who passed it on */
    assert_non_null(strstr(stream_peer(rig->server.stream), "/door (uid "));
    end_close(&rig->client);
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)unlink(unix_address + 5);
    close(ready[0]);
    close(ready[1]);
}

static void passing_where_nobody_listens_is_refused_and_closes(void **state)
{
    struct rig *rig = *state;
    struct err err = {""};
    char pass[128];
    rig->keep_incoming = true;
    rig_listen(rig, "tcp:127.0.0.1:0");
    int fd = raw_connect(rig);
    raw_send(fd, "ROOST/1 x\n");
    AWAIT(rig, rig->incoming_count == 1);
    assert_int_equal(incoming_pass(rig->incoming, rig_path(rig, "pass", pass), &err),
                     -ECONNREFUSED);
    assert_non_null(strstr(err.text, rig->directory));
    char byte;
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

static void pass_all(void *arg, struct incoming *incoming)
{
    struct rig *rig = arg;
    char pass[128];
    rig->woken = true;
    rig->incoming_count++;
    assert_int_equal(incoming_pass(incoming, rig_path(rig, "pass", pass), NULL), 0);
}

static void count_and_refuse(void *arg, struct incoming *incoming)
{
    unsigned *count = arg;
    (*count)++;
    incoming_refuse(incoming);
}

/* The receiver takes nothing until all have been sent: more than its queue holds. */
static void a_receiver_whose_queue_is_full_gets_them_all_later(void **state)
{
    struct rig *rig = *state;
    enum { COUNT = 700 };
    static int fds[COUNT];
    char pass[128];
    struct loop *other;
    struct listener *receiver;
    unsigned received = 0;
    /* Both ends and what is on its way: more than the soft limit that an ordinary user gets. */
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 3 * COUNT) {
        skip();
    }
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    stream_set_strangers_max(rig->loop, COUNT + 1);
    assert_int_equal(loop_create(&other, NULL), 0);
    assert_int_equal(listener_create(other, rig_path(rig, "pass", pass), count_and_refuse,
                                     &received, &receiver, NULL),
                     0);
    assert_int_equal(listener_create(rig->loop, "tcp:127.0.0.1:0", pass_all, rig, &rig->listener,
                                     NULL),
                     0);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(rig);
        raw_send(fds[i], "ROOST/1 x\n");
    }
    AWAIT(rig, rig->incoming_count == COUNT);
    while (received < COUNT) {
        loop_rig_turn(other, 1);
        loop_rig_turn(rig->loop, 1);
    }
    listener_destroy(receiver);
    loop_destroy(other);
    for (int i = 0; i < COUNT; i++) {
        close(fds[i]);
    }
}

struct kept { /* connections that a receiver has been passed, and when they came */
    struct loop *loop;
    struct incoming *incoming[2];
    uint64_t came_ms[2];
    unsigned count;
};

static void keep_passed(void *arg, struct incoming *incoming)
{
    struct kept *kept = arg;
    assert_true(kept->count < 2);
    kept->incoming[kept->count] = incoming;
    kept->came_ms[kept->count++] = loop_now_ms(kept->loop);
}

/* There is room for one: the other one waits in the queue, as it would in the line of a port. */
static void passed_connections_leave_time_to_those_that_came_before(void **state)
{
    struct rig *rig = *state;
    char pass[128];
    struct kept kept = {.count = 0};
    struct listener *receiver;
    assert_int_equal(loop_create(&kept.loop, NULL), 0);
    stream_set_strangers_max(kept.loop, 1);
    assert_int_equal(listener_create(kept.loop, rig_path(rig, "pass", pass), keep_passed, &kept,
                                     &receiver, NULL),
                     0);
    assert_int_equal(listener_create(rig->loop, "tcp:127.0.0.1:0", pass_all, rig, &rig->listener,
                                     NULL),
                     0);
    int fds[2] = {raw_connect(rig), raw_connect(rig)};
    raw_send(fds[0], "ROOST/1 x\n");
    raw_send(fds[1], "ROOST/1 x\n");
    AWAIT(rig, rig->incoming_count == 2);
    while (kept.count < 2) {
        loop_rig_turn(kept.loop, 1);
        loop_rig_turn(rig->loop, 1);
    }
    assert_true(kept.came_ms[1] - kept.came_ms[0] >= STRANGERS_PATIENCE_MIN_MS);
    incoming_refuse(kept.incoming[0]);
    incoming_refuse(kept.incoming[1]);
    listener_destroy(receiver);
    loop_destroy(kept.loop);
    close(fds[0]);
    close(fds[1]);
}

/* Nobody takes them: those that wait for room in the queue go with the loop. */
static void what_is_still_to_be_passed_ends_with_its_loop(void **state)
{
    struct rig *rig = *state;
    enum { COUNT = 700 };
    static int fds[COUNT];
    char pass[128];
    int receiver = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 3 * COUNT) {
        skip();
    }
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    (void)rig_path(rig, "pass", pass);
    memcpy(at.sun_path, pass + 5, strlen(pass + 5)); /* it was zeros: stays terminated */
    assert_int_equal(bind(receiver, (struct sockaddr *)&at, sizeof(at)), 0);
    struct rig mine = {.woken = false};
    (void)snprintf(mine.directory, sizeof(mine.directory), "%s", rig->directory);
    assert_int_equal(loop_create(&mine.loop, NULL), 0);
    assert_int_equal(listener_create(mine.loop, "tcp:127.0.0.1:0", pass_all, &mine, &mine.listener,
                                     NULL),
                     0);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(&mine);
        raw_send(fds[i], "ROOST/1 x\n");
    }
    AWAIT(&mine, mine.incoming_count == COUNT);
    listener_destroy(mine.listener);
    loop_destroy(mine.loop);
    int ended = 0;
    for (int i = 0; i < COUNT; i++) {
        char byte;
        ended += recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0;
        close(fds[i]);
    }
    assert_true(ended > 0 && ended < COUNT); /* the queue held the others */
    close(receiver);
    (void)unlink(at.sun_path);
}

static void send_descriptor(const char *path, int fd, const char *text)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {(void *)(uintptr_t)text, strlen(text)};
    struct msghdr message = {.msg_name = &to,
                             .msg_namelen = sizeof(to),
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = fd >= 0 ? control.space : NULL,
                             .msg_controllen = fd >= 0 ? sizeof(control.space) : 0};
    if (fd >= 0) {
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(int));
    }
    int socket_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (sendmsg(socket_fd, &message, 0) < 0) {
        _exit(3);
    }
    close(socket_fd);
}

static void a_stranger_cannot_pass_a_connection(void **state)
{
    struct rig *rig = *state;
    char pass[128];
    if (geteuid() != 0) {
        skip(); /* only root can be somebody else */
    }
    rig_listen(rig, rig_path(rig, "pass", pass));
    struct stat st;
    assert_int_equal(stat(pass + 5, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(pass + 5, 0666), 0); /* the second lock must hold by itself */
    assert_int_equal(chmod(rig->directory, 0755), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int ends[2];
        if (setuid(65534) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
            _exit(2);
        }
        send_descriptor(pass + 5, ends[0], "ROOST/1 x\n");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rig_await_dropped(rig, 1);
    assert_int_equal(rig->incoming_count, 0);
}

static void what_is_no_passed_connection_is_dropped(void **state)
{
    struct rig *rig = *state;
    char pass[128];
    int file = open("/dev/null", O_RDWR);
    int datagram = socket(AF_UNIX, SOCK_DGRAM, 0);
    int ends[2];
    rig_listen(rig, rig_path(rig, "pass", pass));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    send_descriptor(pass + 5, -1, "ROOST/1 x\n");
    send_descriptor(pass + 5, file, "ROOST/1 x\n");
    send_descriptor(pass + 5, datagram, "ROOST/1 x\n");
    send_descriptor(pass + 5, ends[0], "ROOST/1 x");
    send_descriptor(pass + 5, ends[0], "ROOST/1 x y\n");
    rig_await_dropped(rig, 5);
    assert_int_equal(rig->incoming_count, 0);
    send_descriptor(pass + 5, ends[0], "ROOST/1 x\n");
    AWAIT(rig, rig->incoming_count == 1);
    close(file);
    close(datagram);
    close(ends[0]);
    close(ends[1]);
}

/* ---- listening ------------------------------------------------------------------------------- */

static void a_dead_socket_file_is_replaced_and_a_live_one_is_not(void **state)
{
    struct rig *rig = *state;
    const char *schemes[] = {"unix", "pass"};
    for (int i = 0; i < 2; i++) {
        char address[128];
        struct err err = {""};
        struct listener *second = NULL;
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        (void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", rig->directory);
        int dead = socket(AF_UNIX, i == 0 ? SOCK_STREAM : SOCK_DGRAM, 0);
        assert_int_equal(bind(dead, (struct sockaddr *)&at, sizeof(at)), 0);
        close(dead);
        rig_listen(rig, rig_path(rig, schemes[i], address));
        assert_string_equal(listener_address(rig->listener), address);
        assert_int_equal(listener_create(rig->loop, address, rig_incoming, rig, &second, &err),
                         -EADDRINUSE);
        assert_non_null(strstr(err.text, at.sun_path));
        assert_int_equal(access(at.sun_path, F_OK), 0);
        listener_destroy(rig->listener);
        rig->listener = NULL;
        assert_int_equal(access(at.sun_path, F_OK), -1);
    }
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
    struct rig *rig = *state;
    char address[128];
    struct listener *listener;
    rig_path(rig, "unix", address);
    int fd = open(address + 5, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "precious", 8), 8);
    close(fd);
    assert_int_equal(listener_create(rig->loop, address, rig_incoming, rig, &listener, NULL),
                     -EADDRINUSE);
    struct stat st;
    assert_int_equal(stat(address + 5, &st), 0);
    assert_int_equal(st.st_size, 8);
}

static void a_socket_may_lie_deeper_than_the_kernel_can_say(void **state)
{
    struct rig *rig = *state;
    char deep[256], address[300], pass[300];
    (void)snprintf(deep, sizeof(deep), "%s/%0*d", rig->directory, 120, 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    (void)snprintf(address, sizeof(address), "unix:%s/door", deep);
    (void)snprintf(pass, sizeof(pass), "pass:%s/hatch", deep);
    struct listener *door;
    assert_int_equal(listener_create(rig->loop, address, pass_to_route, pass, &door, NULL), 0);
    rig_listen(rig, pass);
    assert_int_equal(stream_connect(rig->loop, address, "x", NULL, &END_EVENTS, &rig->client,
                                    &rig->client.stream, NULL),
                     0);
    assert_int_equal(stream_write(rig->client.stream, "deep", 4), 0);
    AWAIT(rig, rig->server.got_bytes == 4);
    listener_destroy(door);
    listener_destroy(rig->listener);
    rig->listener = NULL;
    assert_int_equal(rmdir(deep), 0); /* both socket files are gone */
}

static void a_taken_port_is_refused_and_named(void **state)
{
    struct rig *rig = *state;
    struct err err = {""};
    struct listener *second;
    rig_listen(rig, "tcp:127.0.0.1:0");
    assert_int_equal(listener_create(rig->loop, listener_address(rig->listener), rig_incoming, rig,
                                     &second, &err),
                     -EADDRINUSE);
    assert_non_null(strstr(err.text, listener_address(rig->listener)));
}

static void all_addresses_of_the_machine_may_be_listened_on(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:*:0");
    char address[64];
    (void)snprintf(address, sizeof(address), "tcp:127.0.0.1%s",
                   strrchr(listener_address(rig->listener), ':'));
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    assert_int_equal(stream_connect(rig->loop, address, "x", &trust, &END_EVENTS, &rig->client,
                                    &rig->client.stream, NULL),
                     0);
    AWAIT(rig, rig->client.opened);
    assert_int_equal(strncmp(rig->incoming_from, "tcp:127.0.0.1:", 14), 0); /* not ::ffff:... */
}

static void refuse_and_destroy(void *arg, struct incoming *incoming)
{
    struct rig *rig = arg;
    rig->woken = true;
    rig->incoming_count++;
    incoming_refuse(incoming);
    listener_destroy(rig->listener);
    rig->listener = NULL;
}

static void a_listener_may_be_destroyed_in_its_callback(void **state)
{
    struct rig *rig = *state;
    char pass[128];
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(listener_create(rig->loop, rig_path(rig, "pass", pass), refuse_and_destroy,
                                     rig, &rig->listener, NULL),
                     0);
    send_descriptor(pass + 5, ends[0], "ROOST/1 x\n");
    send_descriptor(pass + 5, ends[0], "ROOST/1 x\n");
    AWAIT(rig, rig->incoming_count == 1);
    assert_null(rig->listener);
    assert_int_equal(listener_create(rig->loop, "tcp:127.0.0.1:0", refuse_and_destroy, rig,
                                     &rig->listener, NULL),
                     0);
    int first = raw_connect(rig), second = raw_connect(rig);
    raw_send(first, "ROOST/1 x\n");
    raw_send(second, "ROOST/1 x\n");
    AWAIT(rig, rig->incoming_count == 2);
    close(first);
    close(second);
    close(ends[0]);
    close(ends[1]);
}

static void accepting_goes_on_when_descriptors_are_free_again(void **state)
{
    struct rig *rig = *state;
    enum { COUNT = 40 };
    int fds[COUNT];
    rig->keep_incoming = true;
    rig_listen(rig, "tcp:127.0.0.1:0");
    for (int i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(rig); /* the kernel accepts */
    }
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)fds[COUNT - 1] + 5;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct listener_stats stats;
    do {
        loop_rig_turn(rig->loop, 5);
        listener_get_stats(rig->listener, &stats);
    } while (stats.exhausted < 2);
    assert_in_range(stats.unfinished, 1, 6);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    do {
        loop_rig_turn(rig->loop, 5);
        listener_get_stats(rig->listener, &stats);
    } while (stats.unfinished < COUNT);
    for (int i = 0; i < COUNT; i++) {
        close(fds[i]);
    }
}

/* The line of those who wait is full as soon as it has a dozen. */
static void accepting_goes_on_when_the_line_was_full(void **state)
{
    struct rig *rig = *state;
    enum { COUNT = 60 };
    int fds[COUNT], first = dup(STDERR_FILENO);
    struct rlimit before, few;
    unsigned served = 0;
    assert_true(first >= 0);
    close(first);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = ((rlim_t)first + COUNT + 12) * 8 / 7;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(listener_create(rig->loop, "tcp:127.0.0.1:0", count_and_refuse, &served,
                                     &rig->listener, NULL),
                     0);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(rig);
        raw_send(fds[i], "ROOST/1 x\n");
    }
    LOOP_RIG_UNTIL(rig->loop, served == COUNT, "");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < COUNT; i++) {
        close(fds[i]);
    }
}

/* ---- strangers ------------------------------------------------------------------------------- */

static uint32_t strangers_now(const struct rig *rig)
{
    struct stream_strangers strangers;
    stream_get_strangers(rig->loop, &strangers);
    return strangers.now;
}

static bool strangers_are(struct rig *rig, int number)
{
    return strangers_now(rig) == (uint32_t)number;
}

static bool is_hung_up(struct rig *rig, int fd)
{
    char byte;
    (void)rig;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

static void the_oldest_silent_connection_makes_room_for_one_that_comes(void **state)
{
    struct rig *rig = *state;
    enum { MANY = 6, MOST = 4 };
    int fds[MANY];
    stream_set_strangers_max(rig->loop, MOST);
    rig_listen(rig, "tcp:127.0.0.1:0");
    for (int i = 0; i < MANY; i++) {
        fds[i] = raw_connect(rig);
    }
    turn_until(rig, is_hung_up, fds[1]);
    assert_true(is_hung_up(rig, fds[0]));
    assert_false(is_hung_up(rig, fds[2]));
    assert_int_equal(strangers_now(rig), MOST);
    assert_int_equal(rig_dropped(rig), MANY - MOST);
    /* A caller with something to say gets through. */
    rig_connect(rig, tls_identity_pin(rig->identity));
    AWAIT(rig, rig->client.opened && rig->server.opened);
    assert_true(is_hung_up(rig, fds[2]));
    for (int i = 0; i < MANY; i++) {
        close(fds[i]);
    }
}

static void a_stream_counts_as_a_stranger_until_its_peer_is_known(void **state)
{
    struct rig *rig = *state;
    stream_set_strangers_max(rig->loop, 2);
    rig_open_tcp(rig);
    assert_int_equal(strangers_now(rig), 1);
    int one = raw_connect(rig), two = raw_connect(rig);
    AWAIT(rig, rig->server.closed); /* the oldest, although TLS is done */
    assert_int_equal(rig->server.code, -EBUSY);
    assert_non_null(strstr(rig->server.why, "others wait"));
    end_close(&rig->server);
    AWAIT(rig, rig->client.closed);
    end_close(&rig->client);
    close(one);
    close(two);
    turn_until(rig, strangers_are, 0);

    rig->client.opened = rig->server.opened = rig->client.closed = rig->server.closed = 0;
    rig_connect(rig, tls_identity_pin(rig->identity));
    AWAIT(rig, rig->client.opened && rig->server.opened);
    stream_known(rig->server.stream);
    stream_known(rig->client.stream); /* a dialled one: nothing */
    assert_int_equal(strangers_now(rig), 0);
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = raw_connect(rig);
    }
    turn_until(rig, is_hung_up, fds[1]);
    assert_int_equal(rig->server.closed, 0);
    for (int i = 0; i < 4; i++) {
        close(fds[i]);
    }
}

static void a_connection_that_its_owner_keeps_may_have_to_go(void **state)
{
    struct rig *rig = *state;
    stream_set_strangers_max(rig->loop, 1);
    rig->keep_incoming = true;
    rig_listen(rig, "tcp:127.0.0.1:0");
    int kept = raw_connect(rig);
    raw_send(kept, "ROOST/1 x\n");
    AWAIT(rig, rig->incoming_count == 1);
    struct incoming *incoming = rig->incoming;
    int other = raw_connect(rig);
    turn_until(rig, is_hung_up, kept);
    assert_null(incoming_accept(incoming, rig->identity, &END_EVENTS, &rig->server));
    raw_send(other, "ROOST/1 y\n");
    AWAIT(rig, rig->incoming_count == 2);
    incoming = rig->incoming;
    int last = raw_connect(rig);
    turn_until(rig, is_hung_up, other);
    assert_int_equal(incoming_pass(incoming, "pass:/nowhere", NULL), -ECONNABORTED);
    close(kept);
    close(other);
    close(last);
}

static bool is_sent_something(struct rig *rig, int fd)
{
    char byte;
    (void)rig;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

static void who_waits_long_is_told_so(void **state)
{
    struct rig *rig = *state;
    enum { LINE = 30, LAST = LINE * 3 / 4 }; /* the fourth part behind it goes earlier */
    int fds[LINE];
    char word[100] = "";
    stream_set_strangers_max(rig->loop, 1);
    rig_listen(rig, "tcp:127.0.0.1:0");
    for (int i = 0; i < LINE; i++) {
        fds[i] = raw_connect(rig);
    }
    turn_until(rig, is_sent_something, fds[LAST]);
    assert_true(recv(fds[LAST], word, sizeof(word) - 1, 0) > 0);
    assert_string_equal(word, "ROOST/1 wait\n");
    for (int i = 0; i < LINE; i++) {
        close(fds[i]);
    }
}

#define CROWD 60

/* Many callers at once, who send no TLS. */
struct crowd {
    struct rig *rig;
    struct seat {
        struct crowd *crowd;
        struct stream *stream;
    } seats[CROWD];
    unsigned came, ended, ended_before, most_in_a_turn;
};

static void seat_closed(void *arg, int code, const char *why)
{
    struct seat *seat = arg;
    (void)why;
    assert_int_equal(code, -EPROTO);
    seat->crowd->ended++;
    stream_close(seat->stream);
}

static void crowd_comes(void *arg, struct incoming *incoming)
{
    static const struct stream_events EVENTS = {.closed = seat_closed};
    struct crowd *crowd = arg;
    struct seat *seat = &crowd->seats[crowd->came++];
    seat->crowd = crowd;
    seat->stream = incoming_accept(incoming, crowd->rig->identity, &EVENTS, seat);
    assert_non_null(seat->stream);
}

static void each_turn(void *arg)
{
    struct crowd *crowd = arg;
    unsigned ended = crowd->ended - crowd->ended_before;
    crowd->ended_before = crowd->ended;
    crowd->most_in_a_turn = ended > crowd->most_in_a_turn ? ended : crowd->most_in_a_turn;
    crowd->rig->woken = crowd->ended == CROWD;
    if (!crowd->rig->woken) {
        loop_defer(crowd->rig->loop, each_turn, crowd);
    }
}

static void handshakes_of_a_crowd_leave_time_for_others(void **state)
{
    struct rig *rig = *state;
    struct crowd crowd = {.rig = rig};
    int fds[CROWD];
    MUST(listener_create(rig->loop, "tcp:127.0.0.1:0", crowd_comes, &crowd, &rig->listener, err));
    for (int i = 0; i < CROWD; i++) {
        fds[i] = raw_connect(rig);
        raw_send(fds[i], "ROOST/1 x\nThis is not TLS.");
    }
    loop_defer(rig->loop, each_turn, &crowd);
    AWAIT(rig, crowd.ended == CROWD);
    assert_in_range(crowd.most_in_a_turn, 1, CROWD / 4);
    for (int i = 0; i < CROWD; i++) {
        close(fds[i]);
    }
}

static void who_comes_over_a_unix_socket_does_not_wait_for_strangers_of_a_network(void **state)
{
    struct rig *rig = *state;
    enum { MOST = 3 };
    int fds[MOST];
    char address[128];
    struct listener *tcp = NULL;
    stream_set_strangers_max(rig->loop, MOST);
    rig_listen(rig, "tcp:127.0.0.1:0");
    for (int i = 0; i < MOST; i++) {
        fds[i] = raw_connect(rig);
    }
    turn_until(rig, strangers_are, MOST); /* fresh: one more of them would have to wait */
    tcp = rig->listener;
    rig_listen(rig, rig_path(rig, "unix", address));
    rig_connect(rig, NULL);
    AWAIT(rig, rig->client.opened && rig->server.opened);
    assert_true(is_hung_up(rig, fds[0]));
    assert_false(is_hung_up(rig, fds[1]));
    listener_destroy(tcp);
    for (int i = 0; i < MOST; i++) {
        close(fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(the_preface_may_come_in_pieces_and_nothing_behind_it_is_taken),
        RIG_TEST(what_is_no_preface_is_dropped_and_counted),
        RIG_TEST(a_caller_that_hangs_up_before_its_route_is_dropped),
        RIG_TEST(a_caller_that_is_slow_to_say_its_route_is_dropped),
        RIG_TEST(a_cut_in_mid_handshake_is_told),
        RIG_TEST(what_is_no_tls_is_told),
        RIG_TEST(a_server_that_hangs_up_before_tls_is_told),
        RIG_TEST(a_client_is_told_to_wait_and_then_served),
        RIG_TEST(who_has_begun_tls_is_not_sent_away_at_once),
        RIG_TEST(a_word_that_is_cut_ends_the_connection),
        RIG_TEST(another_word_than_wait_is_no_tls),
        RIG_TEST(a_connection_is_passed_to_another_listener_before_tls),
        RIG_TEST(a_connection_is_passed_to_another_process),
        RIG_TEST(passing_where_nobody_listens_is_refused_and_closes),
        RIG_TEST(a_receiver_whose_queue_is_full_gets_them_all_later),
        RIG_TEST(passed_connections_leave_time_to_those_that_came_before),
        RIG_TEST(what_is_still_to_be_passed_ends_with_its_loop),
        RIG_TEST(a_stranger_cannot_pass_a_connection),
        RIG_TEST(what_is_no_passed_connection_is_dropped),
        RIG_TEST(a_dead_socket_file_is_replaced_and_a_live_one_is_not),
        RIG_TEST(a_file_that_is_no_socket_is_left_alone),
        RIG_TEST(a_socket_may_lie_deeper_than_the_kernel_can_say),
        RIG_TEST(a_taken_port_is_refused_and_named),
        RIG_TEST(all_addresses_of_the_machine_may_be_listened_on),
        RIG_TEST(a_listener_may_be_destroyed_in_its_callback),
        RIG_TEST(accepting_goes_on_when_descriptors_are_free_again),
        RIG_TEST(accepting_goes_on_when_the_line_was_full),
        RIG_TEST(the_oldest_silent_connection_makes_room_for_one_that_comes),
        RIG_TEST(a_stream_counts_as_a_stranger_until_its_peer_is_known),
        RIG_TEST(a_connection_that_its_owner_keeps_may_have_to_go),
        RIG_TEST(who_comes_over_a_unix_socket_does_not_wait_for_strangers_of_a_network),
        RIG_TEST(who_waits_long_is_told_so),
        RIG_TEST(handshakes_of_a_crowd_leave_time_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
