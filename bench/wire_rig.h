/* bench/wire_rig.h - a pool's secrets in a directory, and a server of the wire protocol, for
 * benches that measure connections.
 *
 * All parties are in this process, on one event loop, and talk over TLS on the loopback device; so
 * the CPU time of the process is that of all parties together.  wire_rig_party() makes a party.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_WIRE_RIG_H
#define BENCH_WIRE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/pki.h"
#include "base/server_role.h"
#include "base/stream/stream.h"
#include "bench/bench_env.h"
#include "wire/token.h"
#include "wire/wire.h"

#define WIRE_RIG_KEY "k1"

struct wire_rig {
    struct loop *loop;
    struct os *os;
    char dir[200], keys[300], ca[300], cert[300], cert_key[300];
    struct tls_identity *identity;
    struct wire_context *server;
    struct listener *listener;
};

static inline void wire_rig_must(int rc, const struct err *err)
{
    if (rc != 0) {
        (void)fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static inline double wire_rig_cpu_us(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline int wire_rig_by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the values and returns the median. */
static inline double wire_rig_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, wire_rig_by_size);
    return values[count / 2];
}

/* ---- parties */

/* Makes the context that the connections of one party share, with the pool's public keys and the
 * CA.  The party has a token for the identity NAME@pool with these scopes, and may advertise names
 * that match pattern ("": all names).  With name NULL, the party has no token. */
static inline struct wire_context *wire_rig_party(struct wire_rig *rig, const char *name,
                                                  uint32_t scopes, const char *pattern)
{
    char token_path[300], key_path[400];
    struct wire_context *context = NULL;
    struct err err;
    struct wire_context_options options = {.loop = rig->loop,
                                           .os = rig->os,
                                           .pool_keys = rig->keys,
                                           .ca_file = rig->ca,
                                           .pool = "pool",
                                           .uid_domain = "pool"};
    if (name != NULL) {
        struct token token = {.scopes = scopes, .issued_s = loop_wall_s(rig->loop)};
        char *text = NULL;
        (void)snprintf(token.identity, sizeof token.identity, "%s@pool", name);
        (void)snprintf(token.id, sizeof token.id, "id-of-%s", name);
        (void)snprintf(token.pool, sizeof token.pool, "pool");
        (void)snprintf(token.pattern, sizeof token.pattern, "%s", pattern);
        (void)snprintf(token_path, sizeof token_path, "%s/token.%s", rig->dir, name);
        (void)snprintf(key_path, sizeof key_path, "%s/" WIRE_RIG_KEY ".key", rig->keys);
        wire_rig_must(token_issue_file(rig->os, rig->loop, key_path, WIRE_RIG_KEY, &token, &text,
                                       &err),
                      &err);
        wire_rig_must(os_write_file(rig->os, token_path, text, strlen(text), 0600, false, &err),
                      &err);
        mem_free(text);
        options.token_path = token_path;
    }
    wire_rig_must(wire_context_create(&options, &context, &err), &err);
    return context;
}

/* ---- the pool */

/* Makes the pool's secrets and a listener.  incoming is called for each new connection and must
 * accept it with the context rig->server. */
static inline void wire_rig_init(struct wire_rig *rig, listener_f incoming, void *arg)
{
    struct err err;
    const char *above = getenv("TMPDIR");
    (void)snprintf(rig->dir, sizeof rig->dir, "%s/roost-wire-XXXXXX",
                   above != NULL ? above : "/tmp");
    CHECK(mkdtemp(rig->dir) != NULL);
    (void)snprintf(rig->keys, sizeof rig->keys, "%s/keys", rig->dir);
    (void)snprintf(rig->ca, sizeof rig->ca, "%s/" PKI_CA_CERT, rig->dir);
    (void)snprintf(rig->cert, sizeof rig->cert, "%s/server.pem", rig->dir);
    (void)snprintf(rig->cert_key, sizeof rig->cert_key, "%s/server-key.pem", rig->dir);
    wire_rig_must(loop_create(&rig->loop, &err), &err);
    wire_rig_must(os_create(rig->loop, &rig->os, &err), &err);
    wire_rig_must(os_mkdirs(rig->os, rig->keys, 0700, &err), &err);
    wire_rig_must(pki_make_ca(rig->os, rig->dir, "pool", &err), &err);
    const struct pki_server server = {.role = SERVER_ROLE_COLLECTOR, .name = "collector"};
    wire_rig_must(pki_make_server_cert(rig->os, rig->dir, rig->cert, rig->cert_key, &server, &err),
                  &err);
    wire_rig_must(token_key_make(rig->os, rig->loop, rig->keys, WIRE_RIG_KEY, &err), &err);
    wire_rig_must(tls_identity_load(rig->os, rig->cert, rig->cert_key, &rig->identity, &err), &err);
    rig->server = wire_rig_party(rig, NULL, 0, "");
    wire_rig_must(listener_create(rig->loop, "tcp:127.0.0.1:0", incoming, arg, &rig->listener,
                                  &err),
                  &err);
}

static inline void wire_rig_fini(struct wire_rig *rig)
{
    wire_context_destroy(rig->server);
    listener_destroy(rig->listener);
    tls_identity_destroy(rig->identity);
    (void)os_remove_tree(rig->os, rig->dir, NULL);
    os_destroy(rig->os);
    loop_destroy(rig->loop);
}

#endif
