/* tests/integration/programs/crowd.c - a crowd of strangers and of identities that all do what a
 * daemon bounds (docs/protocol/wire.md, section 8).
 *
 *   crowd DIRECTORY KEY ADDRESS ROUTE STRANGERS IDENTITIES CONNECTIONS SECONDS
 *
 * DIRECTORY is the pool's `security`: with the key KEY to make tokens of, one for each identity,
 * and the CA.  Strangers are of four kinds: silent; silent behind the preface; silent behind TLS;
 * and such as announce a large frame.  An identity has so many connections of two kinds: one leaves
 * a frame of 16 MiB unfinished, of which it sends what is taken; one asks for all ads again and
 * again, and reads no answer.  Whoever is cut dials again.  Says "ready" when all have dialled
 * once, and in the end how many dials there were.  Memory of its own is small: nothing is queued
 * that the other side does not take.
 *
 * LINK: wire classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/stream/stream.h"
#include "classad/ad.h"
#include "wire/frame.h"
#include "wire/token.h"
#include "wire/wire.h"
#include "wire/wire_private.h"

#define ROUND_MS     100
#define DIALS_ROUND  100 /* of those that are cut, in one round */
#define PIECE_BYTES  ((size_t)64 << 10)
#define UNSENT_BYTES ((size_t)128 << 10)
#define ASKED_MAX    64

enum kind { SILENT, PREFACE, TLS, ANNOUNCE, STRANGERS, UNFINISHED = STRANGERS, NOT_READING, KINDS };

struct crowd;

struct member {
    struct crowd *crowd;
    enum kind kind;
    int fd;                /* of the first two kinds; -1: none */
    struct stream *stream; /* of the next two */
    struct wire_context *context;
    struct wire *wire;
    bool ready;
    unsigned connections;
    unsigned asked, most; /* pieces sent of its frame, or queries; so many pieces */
};

struct crowd {
    struct loop *loop;
    struct os *os;
    char directory[300], key[100], address[100], route[100], ca[400], work[300];
    struct sockaddr_in to;
    struct member *members;
    size_t count;
    uint64_t dials;
    size_t next; /* whose turn it is to be looked at */
    struct loop_timer *round;
    uint64_t end_ms;
    bool said, over;
};

/* ---- strangers ------------------------------------------------------------------------------- */

static void plain_dial(struct member *member)
{
    const struct crowd *crowd = member->crowd;
    char text[120];
    member->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(member->fd >= 0);
    (void)connect(member->fd, (const struct sockaddr *)&crowd->to, sizeof crowd->to);
    if (member->kind == PREFACE) {
        int length = snprintf(text, sizeof text, "ROOST/1 %s\n", crowd->route);
        (void)send(member->fd, text, (size_t)length, MSG_NOSIGNAL); /* not connected yet: silent */
    }
}

static bool plain_is_cut(const struct member *member)
{
    char byte;
    ssize_t got = recv(member->fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != ENOTCONN);
}

static void stream_opened(void *arg)
{
    struct member *member = arg;
    static const unsigned char HEAD[] = {0, 0x1f, 0, 0, FRAME_HELLO}; /* just below 8 KiB */
    if (member->kind == ANNOUNCE) {
        (void)stream_write(member->stream, HEAD, sizeof HEAD);
    }
}

static void stream_readable(void *arg)
{
    struct member *member = arg;
    size_t length = 0;
    (void)stream_input(member->stream, &length);
    stream_consume(member->stream, length);
}

static void stream_is_closed(void *arg, int code, const char *why)
{
    struct member *member = arg;
    (void)code, (void)why;
    stream_close(member->stream);
    member->stream = NULL;
}

static void stream_dial(struct member *member)
{
    static const struct stream_events EVENTS = {.opened = stream_opened,
                                                .readable = stream_readable,
                                                .closed = stream_is_closed};
    const struct stream_trust trust = {.ca_file = member->crowd->ca};
    (void)stream_connect(member->crowd->loop, member->crowd->address, member->crowd->route, &trust,
                         &EVENTS, member, &member->stream, NULL);
}

/* ---- identities ------------------------------------------------------------------------------ */

static void wire_ready(void *arg, struct wire *wire)
{
    struct member *member = arg;
    const size_t length = WIRE_FRAME_MAX - 4;
    const unsigned char head[] = {(unsigned char)length, (unsigned char)(length >> 8),
                                  (unsigned char)(length >> 16), (unsigned char)(length >> 24),
                                  FRAME_REQUEST};
    member->ready = true;
    member->asked = 0;
    member->most = member->connections++ == 0 ? 8 : 250; /* 512 KiB; then nearly all of it */
    if (member->kind == UNFINISHED) {
        (void)stream_write(wire->stream, head, sizeof head);
    }
}

static void wire_is_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct member *member = arg;
    (void)status, (void)why;
    member->ready = false;
    member->wire = NULL;
    wire_close(wire);
}

static void wire_dial_again(struct member *member)
{
    static const struct wire_events EVENTS = {.ready = wire_ready, .closed = wire_is_closed};
    const struct wire_dial dial = {.address = member->crowd->address,
                                   .route = member->crowd->route};
    (void)wire_dial(member->context, &dial, &EVENTS, member, &member->wire, NULL);
}

static void on_reply(void *arg, struct wire_reply *reply)
{
    (void)arg, (void)reply;
}

static void wire_goes_on(struct member *member)
{
    static const unsigned char ZEROS[PIECE_BYTES];
    struct wire *wire = member->wire;
    if (member->kind == UNFINISHED) {
        if (stream_pending(wire->stream) < UNSENT_BYTES && member->asked < member->most) {
            (void)stream_write(wire->stream, ZEROS, sizeof ZEROS);
            member->asked++;
        }
        return;
    }
    if (member->asked == 4) {
        stream_pause(wire->stream, true);
    }
    if (member->asked < ASKED_MAX) {
        (void)wire_call(wire, VERB_QUERY, NULL, WIRE_NO_DEADLINE, on_reply, member);
        member->asked++;
    }
}

/* A token of its own, and who shows it. */
static void identity_make(struct crowd *crowd, size_t number, struct wire_context **ret)
{
    char path[400], key[500], *text = NULL;
    struct err err = {""};
    struct token token = {.scopes = SCOPE_READ, .issued_s = loop_wall_s(crowd->loop)};
    (void)snprintf(token.identity, sizeof token.identity, "crowd%zu@personal", number);
    (void)snprintf(token.id, sizeof token.id, "crowd-%zu", number);
    (void)snprintf(token.pool, sizeof token.pool, "personal");
    (void)snprintf(key, sizeof key, "%s/keys/%s.key", crowd->directory, crowd->key);
    (void)snprintf(path, sizeof path, "%s/token-%zu", crowd->work, number);
    if (token_issue_file(crowd->os, crowd->loop, key, crowd->key, &token, &text, &err) != 0 ||
        os_write_file(crowd->os, path, text, strlen(text), 0600, false, &err) != 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    mem_free(text);
    const struct wire_context_options options = {.loop = crowd->loop,
                                                 .os = crowd->os,
                                                 .token_path = path,
                                                 .ca_file = crowd->ca};
    CHECK(wire_context_create(&options, ret, &err) == 0);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_cut(const struct member *member)
{
    if (member->kind <= PREFACE) {
        return member->fd < 0 || plain_is_cut(member);
    }
    return member->kind < STRANGERS ? member->stream == NULL : member->wire == NULL;
}

static void dial_again(struct member *member)
{
    member->crowd->dials++;
    if (member->kind <= PREFACE) {
        if (member->fd >= 0) {
            close(member->fd);
        }
        plain_dial(member);
    } else if (member->kind < STRANGERS) {
        stream_dial(member);
    } else {
        wire_dial_again(member);
    }
}

static void on_round(void *arg)
{
    struct crowd *crowd = arg;
    size_t dials = 0;
    for (size_t i = 0; i < crowd->count; i++) {
        struct member *member = &crowd->members[crowd->next];
        if (is_cut(member)) {
            if (++dials > DIALS_ROUND) {
                break;
            }
            dial_again(member);
        } else if (member->wire != NULL && member->ready) {
            wire_goes_on(member);
        }
        crowd->next = (crowd->next + 1) % crowd->count;
    }
    if (!crowd->said && crowd->dials >= crowd->count) {
        crowd->said = true;
        (void)printf("ready\n");
        (void)fflush(stdout);
    }
    crowd->over = loop_now_ms(crowd->loop) >= crowd->end_ms;
    loop_timer_set(crowd->round, ROUND_MS);
}

static void crowd_make(struct crowd *crowd, size_t strangers, size_t identities, size_t connections)
{
    crowd->count = strangers + identities * connections;
    crowd->members = mem_zalloc(crowd->count * sizeof *crowd->members);
    for (size_t i = 0; i < crowd->count; i++) {
        struct member *member = &crowd->members[i];
        member->crowd = crowd;
        member->fd = -1;
        member->kind = i < strangers ? (enum kind)(i % STRANGERS)
                                     : (enum kind)(UNFINISHED + (i - strangers) % 2);
    }
    for (size_t i = 0; i < identities; i++) {
        struct wire_context *context = NULL;
        identity_make(crowd, i, &context);
        for (size_t k = 0; k < connections; k++) {
            crowd->members[strangers + i * connections + k].context = context;
        }
    }
}

int main(int argc, char **argv)
{
    static struct crowd crowd;
    struct rlimit files;
    struct err err = {""};
    if (argc != 9) {
        (void)fprintf(stderr, "crowd DIRECTORY KEY ADDRESS ROUTE STRANGERS IDENTITIES CONNECTIONS "
                              "SECONDS\n");
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    (void)snprintf(crowd.directory, sizeof crowd.directory, "%s", argv[1]);
    (void)snprintf(crowd.key, sizeof crowd.key, "%s", argv[2]);
    (void)snprintf(crowd.address, sizeof crowd.address, "tcp:%s", argv[3]);
    (void)snprintf(crowd.route, sizeof crowd.route, "%s", argv[4]);
    (void)snprintf(crowd.ca, sizeof crowd.ca, "%s/ca.pem", crowd.directory);
    (void)snprintf(crowd.work, sizeof crowd.work, "/tmp/roost-crowd-XXXXXX");
    crowd.to.sin_family = AF_INET;
    const char *colon = strrchr(argv[3], ':');
    crowd.to.sin_port = htons((uint16_t)strtoul(colon != NULL ? colon + 1 : "0", NULL, 10));
    crowd.to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (mkdtemp(crowd.work) == NULL || loop_create(&crowd.loop, &err) != 0 ||
        os_create(crowd.loop, &crowd.os, &err) != 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    crowd_make(&crowd, strtoul(argv[5], NULL, 10), strtoul(argv[6], NULL, 10),
               strtoul(argv[7], NULL, 10));
    crowd.round = loop_timer_create(crowd.loop, on_round, &crowd);
    crowd.end_ms = loop_now_ms(crowd.loop) + strtoul(argv[8], NULL, 10) * 1000;
    loop_timer_set(crowd.round, 0);
    loop_run_until(crowd.loop, &crowd.over);
    (void)printf("dials: %llu\n", (unsigned long long)crowd.dials);
    (void)os_remove_tree(crowd.os, crowd.work, NULL);
    return 0; /* the kernel closes the connections */
}
