/* bench/greeting_cost.c - the CPU time of one greeting, and of what TLS alone costs.
 *
 * Ours: a party with a token dials a server over TLS on the loopback, until both sides know whom
 * they talk to, and closes; connecting, TLS 1.3, HELLO and WELCOME, the check of the token.
 * OpenSSL's: its TLS 1.3 handshake with a P-256 certificate on each side, both signed by the
 * pool's CA and checked, between two memory BIOs, with the cipher and group that we use.  Both
 * sides of either are in this process.
 *
 * Batches of the two take turns, so that what else the machine does meets both; the figures are
 * medians of the batches, the ratio the median of the ratios of neighbours.
 *
 * Environment: TMPDIR, BENCH_BATCHES (20), BENCH_GREETINGS (50) in each.
 *
 * SHORT: BENCH_BATCHES=1 BENCH_GREETINGS=5
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "bench/wire_rig.h"

#define BATCHES_MAX 1000

struct bench {
    struct wire_rig rig;
    struct wire_context *client;
    struct wire *dialled, *accepted;
    bool dialled_ready, accepted_ready, ready, over;
};

/* ---- ours */

static void on_ready(void *arg, struct wire *wire)
{
    struct bench *bench = arg;
    bench->dialled_ready = bench->dialled_ready || wire == bench->dialled;
    bench->accepted_ready = bench->accepted_ready || wire == bench->accepted;
    bench->ready = bench->dialled_ready && bench->accepted_ready;
}

/* We close the dialled one; the other hears of it. */
static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct bench *bench = arg;
    if (!bench->ready || wire != bench->accepted) {
        (void)fprintf(stderr, "closed: %d %s\n", status, why);
        exit(1);
    }
    wire_close(wire);
    bench->over = true;
}

static const struct wire_events EVENTS = {.ready = on_ready, .closed = on_closed};

static void on_incoming(void *arg, struct incoming *incoming)
{
    struct bench *bench = arg;
    const struct wire_accept how = {.identity = bench->rig.identity};
    struct err err;
    wire_rig_must(wire_accept(bench->rig.server, incoming, &how, &EVENTS, bench, &bench->accepted,
                              &err),
                  &err);
}

static void greet(struct bench *bench)
{
    const struct wire_dial dial = {.address = listener_address(bench->rig.listener),
                                   .route = "collector",
                                   .name = ""};
    struct err err;
    bench->dialled_ready = bench->accepted_ready = bench->ready = bench->over = false;
    wire_rig_must(wire_dial(bench->client, &dial, &EVENTS, bench, &bench->dialled, &err), &err);
    loop_run_until(bench->rig.loop, &bench->ready);
    wire_close(bench->dialled);
    loop_run_until(bench->rig.loop, &bench->over);
}

/* ---- OpenSSL's */

static SSL_CTX *side_create(const struct wire_rig *rig, const SSL_METHOD *method)
{
    SSL_CTX *side = SSL_CTX_new(method);
    CHECK(side != NULL);
    CHECK(SSL_CTX_set_min_proto_version(side, TLS1_3_VERSION) == 1);
    CHECK(SSL_CTX_set_ciphersuites(side, "TLS_AES_128_GCM_SHA256") == 1);
    CHECK(SSL_CTX_set1_groups_list(side, "X25519") == 1);
    CHECK(SSL_CTX_set_num_tickets(side, 0) == 1);
    CHECK(SSL_CTX_use_certificate_file(side, rig->cert, SSL_FILETYPE_PEM) == 1);
    CHECK(SSL_CTX_use_PrivateKey_file(side, rig->cert_key, SSL_FILETYPE_PEM) == 1);
    CHECK(SSL_CTX_load_verify_file(side, rig->ca) == 1);
    CHECK(SSL_CTX_set_purpose(side, X509_PURPOSE_ANY) == 1); /* ours are for servers only */
    SSL_CTX_set_verify(side, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return side;
}

static bool take_step(SSL *ssl)
{
    int rc = SSL_do_handshake(ssl);
    CHECK(rc == 1 || SSL_get_error(ssl, rc) == SSL_ERROR_WANT_READ);
    return rc == 1;
}

static void shake_hands(SSL_CTX *server_side, SSL_CTX *client_side)
{
    SSL *server = SSL_new(server_side), *client = SSL_new(client_side);
    BIO *up = BIO_new(BIO_s_mem()), *down = BIO_new(BIO_s_mem());
    CHECK(server != NULL && client != NULL && up != NULL && down != NULL);
    CHECK(BIO_up_ref(up) == 1 && BIO_up_ref(down) == 1);
    SSL_set_bio(client, down, up);
    SSL_set_bio(server, up, down);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    bool client_done = false, server_done = false;
    while (!client_done || !server_done) {
        client_done = take_step(client);
        server_done = take_step(server);
    }
    X509 *shown = SSL_get1_peer_certificate(server);
    CHECK(shown != NULL && SSL_get_verify_result(server) == X509_V_OK);
    X509_free(shown);
    SSL_free(client);
    SSL_free(server);
}

int main(void)
{
    static struct bench bench;
    static double ours_us[BATCHES_MAX], theirs_us[BATCHES_MAX], ratios[BATCHES_MAX];
    int batches = number("BENCH_BATCHES", 20, BATCHES_MAX);
    int count = number("BENCH_GREETINGS", 50, 1000000);
    wire_rig_init(&bench.rig, on_incoming, &bench);
    bench.client = wire_rig_party(&bench.rig, "client", SCOPE_READ, "");
    SSL_CTX *server_side = side_create(&bench.rig, TLS_server_method());
    SSL_CTX *client_side = side_create(&bench.rig, TLS_client_method());
    for (int i = 0; i < 10; i++) { /* what is made once */
        greet(&bench);
        shake_hands(server_side, client_side);
    }
    for (int i = 0; i < batches; i++) {
        double begin_us = wire_rig_cpu_us();
        for (int j = 0; j < count; j++) {
            greet(&bench);
        }
        double middle_us = wire_rig_cpu_us();
        for (int j = 0; j < count; j++) {
            shake_hands(server_side, client_side);
        }
        ours_us[i] = (middle_us - begin_us) / count;
        theirs_us[i] = (wire_rig_cpu_us() - middle_us) / count;
        ratios[i] = ours_us[i] / theirs_us[i];
    }
    size_t all = (size_t)batches;
    (void)fprintf(stderr, "OpenSSL's handshake alone: %.0f us\n", wire_rig_median(theirs_us, all));
    (void)printf("BENCH greeting_cpu %.0f us ratio %.2f vs openssl handshake with client "
                 "certificate\n",
                 wire_rig_median(ours_us, all), wire_rig_median(ratios, all));
    SSL_CTX_free(server_side);
    SSL_CTX_free(client_side);
    wire_context_destroy(bench.client);
    wire_rig_fini(&bench.rig);
    return 0;
}
