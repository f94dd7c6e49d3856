/* tests/unit/base/test_stream.c - streams between two ends: TLS, Unix sockets, flow, endings.
 *
 * TIMEOUT: 120
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/base/stream_rig.h"

#include <sys/wait.h>

#define MIB ((size_t)1 << 20)

/* ---- the ordinary way ------------------------------------------------------------------------ */

static void bytes_go_both_ways_over_tls(void **state)
{
    struct rig *rig = *state;
    rig_open_tcp(rig);
    assert_string_equal(rig->route, "collector");
    assert_int_equal(stream_write(rig->client.stream, "ping", 4), 0);
    AWAIT(rig, rig->server.got_bytes == 4);
    assert_int_equal(stream_write(rig->server.stream, "pong!", 5), 0);
    AWAIT(rig, rig->client.got_bytes == 5);
    assert_string_equal(strbuf_text(&rig->server.got), "ping");
    assert_string_equal(strbuf_text(&rig->client.got), "pong!");
    assert_string_equal(stream_peer(rig->client.stream), listener_address(rig->listener));
    assert_int_equal(strncmp(stream_peer(rig->server.stream), "tcp:127.0.0.1:", 14), 0);
    uid_t uid;
    pid_t pid;
    assert_false(stream_peer_uid(rig->server.stream, &uid, &pid));
}

static void a_unix_socket_tells_the_uid(void **state)
{
    struct rig *rig = *state;
    rig_open_unix(rig);
    uid_t uid = 12345;
    pid_t pid = 0;
    assert_true(stream_peer_uid(rig->server.stream, &uid, &pid));
    assert_int_equal(uid, geteuid());
    assert_int_equal(pid, getpid());
    assert_true(stream_peer_uid(rig->client.stream, &uid, &pid));
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "unix:%s/socket (uid %u)", rig->directory,
                   (unsigned)geteuid());
    assert_string_equal(stream_peer(rig->server.stream), expected);
    assert_string_equal(stream_peer(rig->client.stream), expected);
}

static void what_is_written_before_opened_arrives(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    rig_connect(rig, tls_identity_pin(rig->identity));
    assert_int_equal(stream_write(rig->client.stream, "early ", 6), 0);
    assert_int_equal(stream_write(rig->client.stream, "bird", 4), 0);
    assert_int_equal(stream_pending(rig->client.stream), 10);
    AWAIT(rig, rig->server.got_bytes == 10);
    assert_string_equal(strbuf_text(&rig->server.got), "early bird");
    assert_int_equal(stream_pending(rig->client.stream), 0);
}

static void a_host_name_is_resolved(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    char address[64];
    (void)snprintf(address, sizeof(address), "tcp:localhost%s",
                   strrchr(listener_address(rig->listener), ':'));
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    assert_int_equal(stream_connect(rig->loop, address, "x", &trust, &END_EVENTS, &rig->client,
                                    &rig->client.stream, NULL),
                     0);
    AWAIT(rig, rig->client.opened);
    assert_string_equal(stream_peer(rig->client.stream), address);
}

static void a_name_that_does_not_exist_is_named(void **state)
{
    struct rig *rig = *state;
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    assert_int_equal(stream_connect(rig->loop, "tcp:no-such-host.invalid:1", "x", &trust,
                                    &END_EVENTS, &rig->client, &rig->client.stream, NULL),
                     0);
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, -EHOSTUNREACH);
    assert_non_null(strstr(rig->client.why, "cannot resolve 'no-such-host.invalid'"));
}

static void a_name_being_resolved_may_be_given_up(void **state)
{
    struct rig *rig = *state;
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    for (int i = 0; i < 10; i++) {
        assert_int_equal(stream_connect(rig->loop, "tcp:localhost:1", "x", &trust, &END_EVENTS,
                                        &rig->client, &rig->client.stream, NULL),
                         0);
        end_close(&rig->client);
    }
    rig_open_tcp(rig);
    assert_int_equal(rig->client.closed, 0);
}

/* ---- trust ----------------------------------------------------------------------------------- */

static void a_wrong_pin_is_refused_and_named(void **state)
{
    struct rig *rig = *state;
    char pin[STREAM_PIN_SIZE];
    rig_listen(rig, "tcp:127.0.0.1:0");
    memcpy(pin, tls_identity_pin(rig->identity), sizeof(pin));
    pin[0] = pin[0] == '0' ? '1' : '0';
    rig_connect(rig, pin);
    assert_int_equal(stream_write(rig->client.stream, "secret", 6), 0);
    AWAIT(rig, rig->client.closed && rig->server.closed);
    assert_int_equal(rig->client.code, -EKEYREJECTED);
    assert_int_equal(rig->client.opened, 0);
    assert_non_null(strstr(rig->client.why, listener_address(rig->listener)));
    assert_non_null(strstr(rig->client.why, "SHA-256 fingerprint is not the expected one"));
    assert_int_equal(rig->server.code, -EPROTO);
    assert_int_equal(rig->server.got_bytes, 0);
}

static void every_ephemeral_identity_is_another(void **state)
{
    struct rig *rig = *state;
    struct tls_identity *other;
    assert_int_equal(tls_identity_ephemeral(rig->loop, "test", &other, NULL), 0);
    assert_int_equal(strlen(tls_identity_pin(other)), STREAM_PIN_SIZE - 1);
    assert_string_not_equal(tls_identity_pin(other), tls_identity_pin(rig->identity));
    tls_identity_destroy(other);
}

static void bad_addresses_routes_and_trust_are_refused_at_once(void **state)
{
    struct rig *rig = *state;
    const char *pin = tls_identity_pin(rig->identity);
    const struct stream_trust by_pin = {.pin = pin}, none = {0},
                              both = {.pin = pin, .ca_file = "/x"}, bad_pin = {.pin = "12"},
                              no_role = {.ca_file = "/x"},
                              no_ca = {.ca_file = "/nonexistent/ca.pem", .role = "collector"};
    char long_route[STREAM_ROUTE_MAX + 2];
    memset(long_route, 'r', sizeof(long_route) - 1);
    long_route[sizeof(long_route) - 1] = '\0';
    const struct {
        const char *address, *route;
        const struct stream_trust *trust;
        int code;
    } cases[] = {
        {"tcp:127.0.0.1", "x", &by_pin, -EINVAL},
        {"tcp::9618", "x", &by_pin, -EINVAL},
        {"tcp:127.0.0.1:x", "x", &by_pin, -EINVAL},
        {"tcp:127.0.0.1:65536", "x", &by_pin, -EINVAL},
        {"tcp:127.0.0.1:", "x", &by_pin, -EINVAL},
        {"tcp:::1:9618", "x", &by_pin, -EINVAL},
        {"tcp:[::1:9618", "x", &by_pin, -EINVAL},
        {"tcp:*:9618", "x", &by_pin, -EINVAL},
        {"127.0.0.1:9618", "x", &by_pin, -EINVAL},
        {"unix:", "x", NULL, -EINVAL},
        {"pass:/tmp/x", "x", NULL, -EINVAL},
        {"", "x", NULL, -EINVAL},
        {"tcp:127.0.0.1:9618", "x", &no_role, -EINVAL},
        {"tcp:127.0.0.1:9618", "", &by_pin, -EINVAL},
        {"tcp:127.0.0.1:9618", "a b", &by_pin, -EINVAL},
        {"tcp:127.0.0.1:9618", "a\nb", &by_pin, -EINVAL},
        {"tcp:127.0.0.1:9618", long_route, &by_pin, -EINVAL},
        {"tcp:127.0.0.1:9618", "x", &none, -EINVAL},
        {"tcp:127.0.0.1:9618", "x", &both, -EINVAL},
        {"tcp:127.0.0.1:9618", "x", NULL, -EINVAL},
        {"tcp:127.0.0.1:9618", "x", &bad_pin, -EINVAL},
        {"tcp:127.0.0.1:9618", "x", &no_ca, -ENOENT},
        {"unix:/nonexistent/s", "x", NULL, -ENOENT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stream *stream = NULL;
        struct err err = {""};
        int code = stream_connect(rig->loop, cases[i].address, cases[i].route, cases[i].trust,
                                  &END_EVENTS, &rig->client, &stream, &err);
        if (code != cases[i].code || err.text[0] == '\0' || stream != NULL) {
            fail_msg("case %zu: %d '%s'", i, code, err.text);
        }
    }
}

static void a_port_where_nobody_listens_is_refused(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    char address[64];
    (void)snprintf(address, sizeof(address), "%s", listener_address(rig->listener));
    listener_destroy(rig->listener);
    rig->listener = NULL;
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    assert_int_equal(stream_connect(rig->loop, address, "x", &trust, &END_EVENTS, &rig->client,
                                    &rig->client.stream, NULL),
                     0);
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, -ECONNREFUSED);
    assert_int_equal(strncmp(rig->client.why, address, strlen(address)), 0);
}

/* ---- endings --------------------------------------------------------------------------------- */

static void a_closed_stream_is_an_ordinary_end_for_the_peer(void **state)
{
    struct rig *rig = *state;
    rig_open_tcp(rig);
    end_close(&rig->client);
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, 0);
    assert_int_equal(rig->client.closed, 0);
    assert_int_equal(stream_write(rig->server.stream, "x", 1), -EPIPE);
}

static void a_closed_unix_stream_is_an_ordinary_end_for_the_peer(void **state)
{
    struct rig *rig = *state;
    rig_open_unix(rig);
    end_close(&rig->server);
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, 0);
}

static void write_much(struct end *end, size_t length)
{
    char *data = mem_alloc(length);
    for (size_t i = 0; i < length; i++) {
        data[i] = (char)(i * 7 + i / 251);
    }
    assert_int_equal(stream_write(end->stream, data, length), 0);
    mem_free(data);
}

static void closing_with_unsent_output_is_a_cut_for_the_peer(void **state)
{
    struct rig *rig = *state;
    rig_open_tcp(rig);
    rig->server.count_only = true;
    write_much(&rig->client, 40 * MIB);
    AWAIT(rig, rig->server.got_bytes > 0);
    end_close(&rig->client);
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, -ECONNRESET);
    assert_non_null(strstr(rig->server.why, "lost"));
    assert_true(rig->server.got_bytes < 40 * MIB);
}

static void finish_sends_all_and_ends_in_the_ordinary_way(struct rig *rig)
{
    rig->server.count_only = rig->client.count_only = true;
    write_much(&rig->client, 5 * MIB);
    stream_finish(rig->client.stream);
    rig->client.stream = NULL;
    write_much(&rig->server, 3 * MIB); /* nobody reads it: must not hurt what is on its way */
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, 0);
    assert_int_equal(rig->server.got_bytes, 5 * MIB);
    assert_int_equal(rig->client.closed + rig->client.drained + rig->client.readable, 0);
}

static void finish_sends_all_over_tls(void **state)
{
    struct rig *rig = *state;
    rig_open_tcp(rig);
    finish_sends_all_and_ends_in_the_ordinary_way(rig);
}

static void finish_sends_all_over_a_unix_socket(void **state)
{
    struct rig *rig = *state;
    rig_open_unix(rig);
    finish_sends_all_and_ends_in_the_ordinary_way(rig);
}

static void finish_before_opened_still_sends(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    rig_connect(rig, tls_identity_pin(rig->identity));
    assert_int_equal(stream_write(rig->client.stream, "last words", 10), 0);
    stream_finish(rig->client.stream);
    rig->client.stream = NULL;
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, 0);
    assert_string_equal(strbuf_text(&rig->server.got), "last words");
    assert_int_equal(rig->client.opened, 0);
}

static void finish_survives_the_end_of_the_loop(void **state)
{
    struct rig *rig = *state;
    struct loop *loop;
    struct rig other = {0};
    rig_listen(rig, "tcp:127.0.0.1:0");
    assert_int_equal(loop_create(&loop, NULL), 0);
    other.loop = loop;
    other.client.rig = &other;
    struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
    assert_int_equal(stream_connect(loop, listener_address(rig->listener), "x", &trust, &END_EVENTS,
                                    &other.client, &other.client.stream, NULL),
                     0);
    while (!other.client.opened) {
        loop_rig_turn(loop, 1);
        loop_rig_turn(rig->loop, 1);
    }
    assert_int_equal(stream_write(other.client.stream, "bye", 3), 0);
    stream_finish(other.client.stream);
    loop_destroy(loop);
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, 0);
    assert_string_equal(strbuf_text(&rig->server.got), "bye");
}

static void the_last_words_of_a_peer_are_heard_by_a_writer(void **state)
{
    struct rig *rig = *state;
    rig_open_tcp(rig);
    rig->server.count_only = true;
    assert_int_equal(stream_write(rig->server.stream, "expired", 7), 0);
    stream_finish(rig->server.stream);
    rig->server.stream = NULL;
    for (int i = 0; i < 20; i++) {
        write_much(&rig->client, MIB);
    }
    AWAIT(rig, rig->client.closed);
    assert_string_equal(strbuf_text(&rig->client.got), "expired");
    assert_int_equal(rig->client.code, 0);
}

static void the_last_words_are_heard_by_one_whose_write_fails_first(void **state)
{
    struct rig *rig = *state;
    rig_open_unix(rig);
    stream_pause(rig->client.stream, true);
    assert_int_equal(stream_write(rig->server.stream, "expired", 7), 0);
    stream_finish(rig->server.stream);
    rig->server.stream = NULL;
    loop_rig_turn(rig->loop, STREAM_FINISH_MS + 100); /* until it gives up waiting for us */
    assert_int_equal(rig->client.closed, 0);
    assert_int_equal(stream_write(rig->client.stream, "and then", 8), 0); /* will meet EPIPE */
    stream_pause(rig->client.stream, false);
    AWAIT(rig, rig->client.closed);
    assert_string_equal(strbuf_text(&rig->client.got), "expired");
    assert_int_equal(rig->client.code, 0);
}

static void a_process_that_dies_is_a_cut(void **state)
{
    struct rig *rig = *state;
    rig_listen(rig, "tcp:127.0.0.1:0");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct loop *loop;
        struct rig other = {0};
        struct stream_trust trust = {.pin = tls_identity_pin(rig->identity)};
        (void)loop_create(&loop, NULL);
        other.loop = loop;
        other.client.rig = &other;
        (void)stream_connect(loop, listener_address(rig->listener), "x", &trust, &END_EVENTS,
                             &other.client, &other.client.stream, NULL);
        AWAIT(&other, other.client.opened);
        _exit(0);
    }
    AWAIT(rig, rig->server.closed);
    assert_int_equal(rig->server.code, -ECONNRESET);
    assert_int_equal(rig->server.opened, 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void close_in_a_callback(struct rig *rig, int which)
{
    rig->client.close_in = which;
    rig_listen(rig, "tcp:127.0.0.1:0");
    rig_connect(rig, tls_identity_pin(rig->identity));
    AWAIT(rig, rig->server.opened);
    rig->server.count_only = true;
    if (which == CLOSE_IN_READABLE) {
        write_much(&rig->server, MIB);
    } else if (which == CLOSE_IN_DRAINED) {
        write_much(&rig->client, 2 * MIB);
    } else if (which == CLOSE_IN_CLOSED) {
        end_close(&rig->server);
    }
    AWAIT(rig, rig->client.stream == NULL);
    if (which != CLOSE_IN_CLOSED) {
        AWAIT(rig, rig->server.closed);
        assert_int_equal(rig->client.closed, 0);
    }
}

static void a_stream_may_be_closed_in_opened(void **state)
{
    close_in_a_callback(*state, CLOSE_IN_OPENED);
}

static void a_stream_may_be_closed_in_readable(void **state)
{
    close_in_a_callback(*state, CLOSE_IN_READABLE);
}

static void a_stream_may_be_closed_in_drained(void **state)
{
    close_in_a_callback(*state, CLOSE_IN_DRAINED);
}

static void a_stream_may_be_closed_in_closed(void **state)
{
    close_in_a_callback(*state, CLOSE_IN_CLOSED);
}

/* ---- flow ------------------------------------------------------------------------------------ */

#define BULK_BYTES (50 * MIB)

static void fifty_mib_both_ways(struct rig *rig)
{
    size_t queued[2] = {0, 0};
    struct end *ends[2] = {&rig->client, &rig->server};
    rig->client.count_only = rig->server.count_only = true;
    while (rig->client.got_bytes < BULK_BYTES || rig->server.got_bytes < BULK_BYTES) {
        for (int i = 0; i < 2; i++) {
            while (queued[i] < BULK_BYTES && stream_pending(ends[i]->stream) < 2 * MIB) {
                write_much(ends[i], MIB);
                queued[i] += MIB;
            }
        }
        rig->woken = false;
        loop_run_until(rig->loop, &rig->woken);
    }
    assert_int_equal(rig->client.got_bytes, BULK_BYTES);
    assert_int_equal(rig->server.got_bytes, BULK_BYTES);
    assert_int_equal(rig->client.closed + rig->server.closed, 0);
}

static void fifty_mib_go_both_ways_at_once_over_tls(void **state)
{
    rig_open_tcp(*state);
    fifty_mib_both_ways(*state);
}

static void fifty_mib_go_both_ways_at_once_over_a_unix_socket(void **state)
{
    rig_open_unix(*state);
    fifty_mib_both_ways(*state);
}

/* The peer reads nothing: its buffer stops at the limit, the rest waits with the writer; then all
 * arrives, unharmed. */
static void a_reader_that_does_not_read(struct rig *rig)
{
    size_t length = 0, before;
    rig->server.keep = true;
    write_much(&rig->client, 50 * MIB);
    do {
        before = length;
        loop_rig_turn(rig->loop, 100);
        (void)stream_input(rig->server.stream, &length);
    } while (length != before || length < STREAM_INPUT_MAX);
    assert_int_equal(length, STREAM_INPUT_MAX);
    assert_true(stream_pending(rig->client.stream) > 20 * MIB);
    assert_int_equal(rig->client.drained, 0);
    rig->server.keep = false;
    end_readable(&rig->server);
    AWAIT(rig, rig->server.got_bytes == 50 * MIB);
    assert_int_equal(rig->client.drained, 1);
    const char *got = strbuf_text(&rig->server.got);
    for (size_t i = 0; i < 50 * MIB; i++) {
        if (got[i] != (char)(i * 7 + i / 251)) {
            fail_msg("byte %zu is wrong", i);
        }
    }
}

static void a_tls_reader_that_does_not_read_holds_up_its_peer(void **state)
{
    rig_open_tcp(*state);
    a_reader_that_does_not_read(*state);
}

static void a_unix_reader_that_does_not_read_holds_up_its_peer(void **state)
{
    rig_open_unix(*state);
    a_reader_that_does_not_read(*state);
}

static void what_may_be_unread_is_the_owners_to_say(struct rig *rig)
{
    size_t length = 0;
    rig->server.keep = true;
    stream_set_input_max(rig->server.stream, 16);
    assert_int_equal(stream_write(rig->client.stream, "0123456789abcdefghijklmnopqrst", 30), 0);
    AWAIT(rig, rig->server.readable == 1);
    (void)stream_input(rig->server.stream, &length);
    assert_int_equal(length, 16);
    stream_set_input_max(rig->server.stream, 20);
    AWAIT(rig, rig->server.readable == 2);
    (void)stream_input(rig->server.stream, &length);
    assert_int_equal(length, 20);
    stream_consume(rig->server.stream, 10);
    AWAIT(rig, rig->server.readable == 3);
    const char *data = stream_input(rig->server.stream, &length);
    assert_int_equal(length, 20);
    assert_memory_equal(data, "abcdefghijklmnopqrst", 20);
}

static void a_tls_stream_holds_no_more_unread_than_its_owner_said(void **state)
{
    rig_open_tcp(*state);
    what_may_be_unread_is_the_owners_to_say(*state);
}

static void a_unix_stream_holds_no_more_unread_than_its_owner_said(void **state)
{
    rig_open_unix(*state);
    what_may_be_unread_is_the_owners_to_say(*state);
}

static void a_paused_stream_is_told_what_it_missed(void **state)
{
    struct rig *rig = *state;
    rig_open_tcp(rig);
    stream_pause(rig->server.stream, true);
    assert_int_equal(stream_write(rig->client.stream, "one", 3), 0);
    assert_int_equal(stream_write(rig->server.stream, "x", 1), 0);
    AWAIT(rig, rig->client.got_bytes == 1);
    loop_rig_turn(rig->loop, 50);
    assert_int_equal(rig->server.readable, 0);
    stream_pause(rig->server.stream, false);
    AWAIT(rig, rig->server.got_bytes == 3);
    /* Unread bytes are announced again. */
    rig->server.keep = true;
    assert_int_equal(stream_write(rig->client.stream, "two", 3), 0);
    AWAIT(rig, rig->server.readable == 2);
    stream_pause(rig->server.stream, true);
    stream_pause(rig->server.stream, false);
    AWAIT(rig, rig->server.readable == 3);
}

/* Small writes go to the kernel at once, as long as it takes them. */
static void small_writes_arrive_in_order_when_the_peer_is_slow(struct rig *rig)
{
    size_t written = 0;
    stream_pause(rig->server.stream, true);
    for (int more = 3; more > 0;) { /* some behind the first that did not go */
        char text[10007];
        for (size_t i = 0; i < sizeof(text); i++) {
            text[i] = (char)((written + i) * 7 + (written + i) / 251);
        }
        assert_int_equal(stream_write(rig->client.stream, text, sizeof(text)), 0);
        written += sizeof(text);
        more -= stream_pending(rig->client.stream) > 0;
    }
    assert_int_equal(rig->client.drained + rig->client.closed, 0);
    stream_pause(rig->server.stream, false);
    AWAIT(rig, rig->server.got_bytes == written);
    const char *got = strbuf_text(&rig->server.got);
    for (size_t i = 0; i < written; i++) {
        if (got[i] != (char)(i * 7 + i / 251)) {
            fail_msg("byte %zu is wrong", i);
        }
    }
}

static void small_writes_arrive_in_order_over_tls(void **state)
{
    rig_open_tcp(*state);
    small_writes_arrive_in_order_when_the_peer_is_slow(*state);
}

static void small_writes_arrive_in_order_over_a_unix_socket(void **state)
{
    rig_open_unix(*state);
    small_writes_arrive_in_order_when_the_peer_is_slow(*state);
}

static void one_who_does_not_read_hears_of_the_end_by_writing(void **state)
{
    struct rig *rig = *state;
    rig_open_unix(rig);
    stream_pause(rig->client.stream, true);
    loop_rig_turn(rig->loop, 1); /* the pause has been worked off */
    end_close(&rig->server);
    assert_int_equal(stream_write(rig->client.stream, "x", 1), 0);
    assert_int_equal(rig->client.closed, 0); /* not inside the call */
    AWAIT(rig, rig->client.closed);
    assert_int_equal(rig->client.code, -ECONNRESET);
}

static void output_has_a_limit(void **state)
{
    struct rig *rig = *state;
    rig_open_unix(rig);
    assert_int_equal(stream_write(rig->client.stream, "x", STREAM_OUTPUT_MAX + 1), -ENOBUFS);
    assert_int_equal(stream_pending(rig->client.stream), 0);
    assert_int_equal(stream_write(rig->client.stream, "x", 1), 0);
    AWAIT(rig, rig->server.got_bytes == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(bytes_go_both_ways_over_tls),
        RIG_TEST(a_unix_socket_tells_the_uid),
        RIG_TEST(what_is_written_before_opened_arrives),
        RIG_TEST(a_host_name_is_resolved),
        RIG_TEST(a_name_that_does_not_exist_is_named),
        RIG_TEST(a_name_being_resolved_may_be_given_up),
        RIG_TEST(a_wrong_pin_is_refused_and_named),
        RIG_TEST(every_ephemeral_identity_is_another),
        RIG_TEST(bad_addresses_routes_and_trust_are_refused_at_once),
        RIG_TEST(a_port_where_nobody_listens_is_refused),
        RIG_TEST(a_closed_stream_is_an_ordinary_end_for_the_peer),
        RIG_TEST(a_closed_unix_stream_is_an_ordinary_end_for_the_peer),
        RIG_TEST(closing_with_unsent_output_is_a_cut_for_the_peer),
        RIG_TEST(finish_sends_all_over_tls),
        RIG_TEST(finish_sends_all_over_a_unix_socket),
        RIG_TEST(finish_before_opened_still_sends),
        RIG_TEST(finish_survives_the_end_of_the_loop),
        RIG_TEST(the_last_words_of_a_peer_are_heard_by_a_writer),
        RIG_TEST(the_last_words_are_heard_by_one_whose_write_fails_first),
        RIG_TEST(a_process_that_dies_is_a_cut),
        RIG_TEST(a_stream_may_be_closed_in_opened),
        RIG_TEST(a_stream_may_be_closed_in_readable),
        RIG_TEST(a_stream_may_be_closed_in_drained),
        RIG_TEST(a_stream_may_be_closed_in_closed),
        RIG_TEST(fifty_mib_go_both_ways_at_once_over_tls),
        RIG_TEST(fifty_mib_go_both_ways_at_once_over_a_unix_socket),
        RIG_TEST(a_tls_reader_that_does_not_read_holds_up_its_peer),
        RIG_TEST(a_unix_reader_that_does_not_read_holds_up_its_peer),
        RIG_TEST(a_tls_stream_holds_no_more_unread_than_its_owner_said),
        RIG_TEST(a_unix_stream_holds_no_more_unread_than_its_owner_said),
        RIG_TEST(a_paused_stream_is_told_what_it_missed),
        RIG_TEST(small_writes_arrive_in_order_over_tls),
        RIG_TEST(small_writes_arrive_in_order_over_a_unix_socket),
        RIG_TEST(one_who_does_not_read_hears_of_the_end_by_writing),
        RIG_TEST(output_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
