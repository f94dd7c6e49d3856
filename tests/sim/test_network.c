/* Simulated connections: bytes, refusals, cuts, vanished peers, passing on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/os/os.h"
#include "base/stream/stream.h"
#include "sim/sim.h"
#include "tests/support/toy.h"

#define CERT "sim-cert srv pool roost://pool/collector/srv"

struct side { /* what one toy of a pair saw */
    struct loop *loop;
    struct os *os;
    struct stream *stream;
    struct listener *listener;
    struct tls_identity *identity;
    struct sim *sim;
    const char *address, *pin, *ca_file, *name;
    const char *pass_to;
    bool refuses, echoes;
    unsigned opened, closed, drained;
    int code;
    uint64_t closed_at_us;
    char got[8192], why[256], route[64];
    size_t got_length;
};

static void on_opened(void *arg)
{
    ((struct side *)arg)->opened++;
}

static void on_drained(void *arg)
{
    ((struct side *)arg)->drained++;
}

static void on_readable(void *arg)
{
    struct side *side = arg;
    size_t length = 0;
    const char *data = stream_input(side->stream, &length);
    for (size_t i = 0; i < length; i++) {
        if (side->got_length < sizeof(side->got) - 1) {
            side->got[side->got_length++] = data[i];
        }
    }
    if (side->echoes) {
        assert_int_equal(stream_write(side->stream, data, length), 0);
    }
    stream_consume(side->stream, length);
}

static void on_closed(void *arg, int code, const char *why)
{
    struct side *side = arg;
    side->closed++;
    side->code = code;
    side->closed_at_us = sim_now_us(side->sim);
    (void)snprintf(side->why, sizeof(side->why), "%s", why);
    stream_close(side->stream);
    side->stream = NULL;
}

static const struct stream_events EVENTS = {on_opened, on_readable, on_drained, on_closed};

static void on_incoming(void *arg, struct incoming *incoming)
{
    struct side *side = arg;
    (void)snprintf(side->route, sizeof(side->route), "%s", incoming_route(incoming));
    if (side->pass_to != NULL) {
        side->code = incoming_pass(incoming, side->pass_to, NULL);
    } else if (side->refuses) {
        incoming_refuse(incoming);
    } else {
        side->stream = incoming_accept(incoming, side->identity, &EVENTS, side);
    }
}

static void serve(const struct sim_env *env, void *arg)
{
    struct side *side = arg;
    side->sim = env->sim;
    side->os = env->os;
    if (strncmp(side->address, "tcp:", 4) == 0 || strncmp(side->address, "pass:", 5) == 0) {
        assert_int_equal(tls_identity_load(env->os, "/etc/cert", "/etc/key", &side->identity, NULL),
                         0);
    }
    assert_int_equal(listener_create(env->loop, side->address, on_incoming, side, &side->listener,
                                     NULL),
                     0);
}

static void dial(const struct sim_env *env, void *arg)
{
    struct side *side = arg;
    const struct stream_trust trust = {.ca_file = side->ca_file,
                                       .role = side->ca_file != NULL ? "collector" : NULL,
                                       .name = side->name,
                                       .pin = side->pin};
    struct err err = {""};
    side->sim = env->sim;
    side->loop = env->loop;
    assert_int_equal(stream_connect(env->loop, side->address, "the/route", &trust, &EVENTS, side,
                                    &side->stream, &err),
                     0);
}

/* Two machines: "srv" with a server on it, "cli" with a client that starts a second later. */
struct pair {
    struct side server, client, second;
    struct toy server_toy, client_toy, second_toy;
    struct sim_program programs[3];
    const struct sim_program *list[4];
    struct sim *sim;
    struct sim_host *srv, *cli;
    struct sim_process *server_process, *client_process;
};

static void pair_make(struct pair *pair, uint64_t seed)
{
    pair->server.address = "tcp:0.0.0.0:9618";
    pair->client.address = "tcp:srv:9618";
    pair->client.ca_file = "/etc/ca";
    pair->second.address = "pass:/tmp/second";
    pair->server_toy = (struct toy){serve, &pair->server};
    pair->client_toy = (struct toy){dial, &pair->client};
    pair->second_toy = (struct toy){serve, &pair->second};
    pair->programs[0] = (struct sim_program)TOY("server", &pair->server_toy);
    pair->programs[1] = (struct sim_program)TOY("client", &pair->client_toy);
    pair->programs[2] = (struct sim_program)TOY("second", &pair->second_toy);
    for (unsigned i = 0; i < 3; i++) {
        pair->list[i] = &pair->programs[i];
    }
    pair->sim = toy_sim(seed, pair->list);
    pair->srv = toy_host(pair->sim, "srv", pair->list);
    pair->cli = toy_host(pair->sim, "cli", pair->list);
    struct sim_host *hosts[] = {pair->srv, pair->cli};
    for (unsigned i = 0; i < 2; i++) {
        sim_file_put(hosts[i], "/etc/cert", CERT, strlen(CERT), 0644);
        sim_file_put(hosts[i], "/etc/key", "k", 1, 0600);
        sim_file_put(hosts[i], "/etc/ca", "sim-ca pool", 11, 0644);
    }
}

static void pair_start(struct pair *pair)
{
    pair->server_process = toy_spawn(pair->srv, "/bin/server");
    sim_run_for(pair->sim, SIM_S);
    pair->client_process = toy_spawn(pair->cli, "/bin/client");
    sim_run_for(pair->sim, SIM_S);
}

static void say(struct side *side, const char *text)
{
    assert_int_equal(stream_write(side->stream, text, strlen(text)), 0);
}

/* ---- */

static void bytes_come_back_from_an_echo(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair.server.echoes = true;
    pair_start(&pair);
    assert_int_equal(pair.client.opened, 1);
    assert_int_equal(pair.server.opened, 1);
    assert_string_equal(pair.server.route, "the/route");
    say(&pair.client, "one ");
    say(&pair.client, "two");
    sim_run_for(pair.sim, SIM_S);
    assert_string_equal(pair.client.got, "one two");
    sim_kill(pair.client_process);
    sim_run_for(pair.sim, SIM_S);
    assert_int_equal(pair.server.closed, 1);
    sim_destroy(pair.sim);
}

static void messages_are_split_and_overtake_each_other_but_never_within_a_connection(void **state)
{
    (void)state;
    uint64_t reordered = 0, split = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pair pair = {0};
        pair_make(&pair, seed);
        pair.server.echoes = true;
        pair_start(&pair);
        char expected[2048] = "";
        for (unsigned i = 0; i < 100; i++) {
            char text[16];
            (void)snprintf(text, sizeof(text), "%u,", i);
            size_t used = strlen(expected);
            (void)snprintf(expected + used, sizeof(expected) - used, "%s", text);
            say(&pair.client, text);
            sim_run_for(pair.sim, 200);
        }
        sim_run_for(pair.sim, 5 * SIM_S);
        assert_string_equal(pair.client.got, expected);
        reordered += sim_counted(pair.sim, SIM_COUNT_REORDERED);
        split += sim_counted(pair.sim, SIM_COUNT_SPLIT);
        sim_destroy(pair.sim);
    }
    assert_true(reordered > 0); /* the two directions */
    assert_true(split > 0);
}

static void a_server_is_refused_for_a_wrong_pin_or_another_pools_ca(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair.client.ca_file = NULL;
    pair.client.pin = "0000";
    pair_start(&pair);
    assert_int_equal(pair.client.opened, 0);
    assert_int_equal(pair.client.code, -EKEYREJECTED);
    assert_int_equal(pair.server.opened, 0);
    assert_int_equal(pair.server.closed, 1);
    sim_destroy(pair.sim);

    memset(&pair, 0, sizeof(pair));
    pair_make(&pair, 1);
    sim_file_put(pair.cli, "/etc/ca", "sim-ca other", 12, 0644);
    pair_start(&pair);
    assert_int_equal(pair.client.opened, 0);
    assert_int_equal(pair.client.code, -EKEYREJECTED);
    sim_destroy(pair.sim);
}

static void a_server_of_the_pool_is_refused_for_another_role_or_name(void **state)
{
    static const struct {
        const char *cert, *name; /* of the certificate; that the client expects */
        bool good;
    } CASES[] = {
        {CERT, NULL, true},
        {CERT, "srv", true},
        {CERT, "other", false},
        {"sim-cert srv pool roost://pool/schedd/srv", NULL, false},
        {"sim-cert srv pool roost://elsewhere/collector/srv", NULL, false},
        {"sim-cert srv pool", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct pair pair = {0};
        pair_make(&pair, 1);
        sim_file_put(pair.srv, "/etc/cert", CASES[i].cert, strlen(CASES[i].cert), 0644);
        pair.client.name = CASES[i].name;
        pair_start(&pair);
        assert_int_equal(pair.client.opened, CASES[i].good ? 1 : 0);
        assert_int_equal(pair.client.code, CASES[i].good ? 0 : -EKEYREJECTED);
        sim_destroy(pair.sim);
    }
}

static void a_pin_is_enough(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair.server_process = toy_spawn(pair.srv, "/bin/server");
    sim_run_for(pair.sim, SIM_S);
    pair.client.ca_file = NULL;
    pair.client.pin = tls_identity_pin(pair.server.identity);
    assert_int_equal(strlen(pair.client.pin), STREAM_PIN_SIZE - 1);
    pair.client_process = toy_spawn(pair.cli, "/bin/client");
    sim_run_for(pair.sim, SIM_S);
    assert_int_equal(pair.client.opened, 1);
    sim_destroy(pair.sim);
}

static void a_key_that_others_can_read_is_refused(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair_start(&pair);
    sim_file_put(pair.srv, "/etc/key", "k", 1, 0640);
    struct tls_identity *identity = NULL;
    assert_int_equal(tls_identity_load(pair.server.os, "/etc/cert", "/etc/key", &identity, NULL),
                     -EACCES);
    sim_destroy(pair.sim);
}

static void nobody_listens_or_refuses(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair.client.address = "tcp:srv:1";
    pair_start(&pair);
    assert_int_equal(pair.client.code, -ECONNREFUSED);
    sim_destroy(pair.sim);

    memset(&pair, 0, sizeof(pair));
    pair_make(&pair, 1);
    pair.server.refuses = true;
    pair_start(&pair);
    assert_int_equal(pair.client.code, -ECONNRESET);
    assert_int_equal(pair.client.opened, 0);
    sim_destroy(pair.sim);
}

static void a_machine_that_is_off_answers_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 10; seed++) {
        struct pair pair = {0};
        pair_make(&pair, seed);
        sim_host_power_cut(pair.srv);
        pair.client_process = toy_spawn(pair.cli, "/bin/client");
        sim_run_for(pair.sim, 2 * SIM_S);
        assert_int_equal(pair.client.closed, 0);
        sim_run_for(pair.sim, 20 * SIM_S);
        assert_int_equal(pair.client.closed, 1);
        assert_true(pair.client.code == -EHOSTUNREACH || pair.client.code == -ETIMEDOUT);
        sim_destroy(pair.sim);
    }
}

static void a_reset_cut_ends_both_sides_at_different_times(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 3);
    pair_start(&pair);
    sim_link_cut(pair.sim, pair.srv, pair.cli, 5 * SIM_S, SIM_CUT_RESET);
    sim_run_for(pair.sim, 10 * SIM_S);
    assert_int_equal(pair.client.code, -ECONNRESET);
    assert_int_equal(pair.server.code, -ECONNRESET);
    assert_int_not_equal(pair.client.closed_at_us, pair.server.closed_at_us);
    sim_destroy(pair.sim);
}

static void a_short_silent_cut_only_delays_and_a_long_one_ends_the_connection(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair_start(&pair);
    sim_link_cut(pair.sim, pair.srv, pair.cli, 5 * SIM_S, SIM_CUT_SILENT);
    say(&pair.client, "hello");
    sim_run_for(pair.sim, 4 * SIM_S);
    assert_string_equal(pair.server.got, "");
    sim_run_for(pair.sim, 4 * SIM_S);
    assert_string_equal(pair.server.got, "hello");
    assert_int_equal(pair.client.closed, 0);
    sim_link_cut(pair.sim, pair.srv, pair.cli, 300 * SIM_S, SIM_CUT_SILENT);
    say(&pair.client, "again");
    sim_run_for(pair.sim, 60 * SIM_S);
    assert_int_equal(pair.client.code, -ETIMEDOUT);
    assert_int_equal(pair.server.closed, 0); /* it has nothing to say and learns nothing */
    say(&pair.server, "anybody there?");
    sim_run_for(pair.sim, 60 * SIM_S);
    assert_int_equal(pair.server.closed, 1);
    assert_string_equal(pair.server.got, "hello");
    sim_destroy(pair.sim);
}

static void a_peer_without_power_says_no_goodbye(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair_start(&pair);
    sim_host_power_cut(pair.cli);
    sim_run_for(pair.sim, 300 * SIM_S);
    assert_int_equal(pair.server.closed, 0);
    say(&pair.server, "anybody there?");
    sim_run_for(pair.sim, 60 * SIM_S);
    assert_int_equal(pair.server.closed, 1);
    assert_true(pair.server.code < 0);
    sim_destroy(pair.sim);
}

static void a_closed_end_is_told_to_the_other_after_the_data(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair_start(&pair);
    say(&pair.client, "last words");
    stream_finish(pair.client.stream);
    sim_run_for(pair.sim, SIM_S);
    assert_string_equal(pair.server.got, "last words");
    assert_int_equal(pair.server.closed, 1);
    assert_int_equal(pair.server.code, 0);
    assert_int_equal(pair.client.closed, 0);
    sim_destroy(pair.sim);
}

static void a_reader_that_pauses_holds_the_writer_back(void **state)
{
    (void)state;
    static char block[1 << 20];
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair_start(&pair);
    stream_pause(pair.server.stream, true);
    memset(block, 'x', sizeof(block));
    assert_int_equal(stream_write(pair.client.stream, block, sizeof(block)), 0);
    sim_run_for(pair.sim, SIM_S);
    assert_true(stream_pending(pair.client.stream) > 0);
    assert_int_equal(pair.client.drained, 0);
    stream_pause(pair.server.stream, false);
    sim_run_for(pair.sim, 5 * SIM_S);
    assert_int_equal(stream_pending(pair.client.stream), 0);
    assert_int_equal(pair.client.drained, 1);
    sim_destroy(pair.sim);
}

static void a_connection_is_passed_on_before_tls(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair.server.pass_to = "pass:/tmp/second";
    pair.second.echoes = true;
    assert_non_null(toy_spawn(pair.srv, "/bin/second"));
    pair_start(&pair);
    assert_int_equal(pair.client.opened, 1);
    assert_int_equal(pair.server.opened, 0);
    say(&pair.client, "hi");
    sim_run_for(pair.sim, SIM_S);
    assert_string_equal(pair.client.got, "hi");
    assert_string_equal(pair.second.route, "the/route");
    sim_destroy(pair.sim);

    memset(&pair, 0, sizeof(pair));
    pair_make(&pair, 1);
    pair.server.pass_to = "pass:/tmp/second"; /* nobody there */
    pair_start(&pair);
    assert_int_equal(pair.server.code, -ECONNREFUSED);
    assert_int_equal(pair.client.closed, 1);
    sim_destroy(pair.sim);
}

static void a_unix_socket_tells_who_calls_and_needs_no_certificate(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_make(&pair, 1);
    pair.server.address = pair.client.address = "unix:/tmp/sock";
    pair.client.ca_file = NULL;
    pair.cli = pair.srv;
    pair_start(&pair);
    assert_int_equal(pair.client.opened, 1);
    uid_t uid = 0;
    pid_t pid = 0;
    assert_true(stream_peer_uid(pair.server.stream, &uid, &pid));
    assert_int_equal(uid, 1000);
    assert_int_equal(pid, sim_process_pid(pair.client_process));
    sim_kill(pair.server_process);
    sim_run_for(pair.sim, SIM_S);
    assert_int_equal(pair.client.closed, 1);
    memset(&pair.server, 0, sizeof(pair.server));
    pair.server.address = "unix:/tmp/sock";
    assert_non_null(toy_spawn(pair.srv, "/bin/server")); /* replaces the dead socket */
    sim_run_for(pair.sim, SIM_S);
    assert_non_null(pair.server.listener);
    sim_destroy(pair.sim);
}

UNIT_TESTS(UNIT(bytes_come_back_from_an_echo),
           UNIT(messages_are_split_and_overtake_each_other_but_never_within_a_connection),
           UNIT(a_server_is_refused_for_a_wrong_pin_or_another_pools_ca),
           UNIT(a_server_of_the_pool_is_refused_for_another_role_or_name), UNIT(a_pin_is_enough),
           UNIT(a_key_that_others_can_read_is_refused), UNIT(nobody_listens_or_refuses),
           UNIT(a_machine_that_is_off_answers_nothing),
           UNIT(a_reset_cut_ends_both_sides_at_different_times),
           UNIT(a_short_silent_cut_only_delays_and_a_long_one_ends_the_connection),
           UNIT(a_peer_without_power_says_no_goodbye),
           UNIT(a_closed_end_is_told_to_the_other_after_the_data),
           UNIT(a_reader_that_pauses_holds_the_writer_back),
           UNIT(a_connection_is_passed_on_before_tls),
           UNIT(a_unix_socket_tells_who_calls_and_needs_no_certificate))
