/* shadow/link_accept.c - accepts the connections that the schedd passes on.
 *
 * A starter proves by the nonce of its run, in the hello of its greeting, that it was given the
 * job.  A starter of a run that we do not know (we were restarted, or the run is over) is let in to
 * get an answer: the schedd is asked what became of that run.  A client shows a ticket that it got
 * from the schedd (guest.c).
 *
 * Anybody can claim to be the starter of a run that we do not know.  Such a caller stays a stranger
 * (wire_proved() is not called): only a few are kept, with little memory and time, and the schedd
 * is asked one question at a time and not too often.  Others who come meanwhile connect again
 * later; by then the schedd has usually told us of their runs.  Rejected: to remember the runs that
 * the schedd refused.  The schedd also refuses runs that are still to come, so a stranger who names
 * such runs could have their starters refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/link_accept.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "base/text.h"
#include "classad/ad.h"
#include "shadow/guest.h"
#include "shadow/link.h"
#include "shadow/remote.h"
#include "shadow/report.h"
#include "shadow/run/run_calls.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/wire.h"

/* Finds the link's run and connects both.  Returns 0; -ENOENT when the run is not known (yet);
 * -EACCES when the nonce is of another run. */
static int bind_run(struct link *link)
{
    struct run *run = run_find(link->shadow, link->id, link->epoch);
    if (run == NULL) {
        return -ENOENT;
    }
    if (strlen(run->nonce) != RUN_NONCE_SIZE - 1 ||
        !text_equal_secret(run->nonce, link->nonce, RUN_NONCE_SIZE - 1)) {
        return -EACCES;
    }
    if (run->link != NULL && run->link != link) {
        link_close(run->link); /* the starter dialled again before we noticed the cut */
    }
    run->link = link;
    link->run = run;
    wire_proved(link->wire);
    return 0;
}

static int take_who(struct link *link, const struct ad *who, const char *nonce, const char *address,
                    struct err *err)
{
    const char *id = ad_string_or(who, "JobId", "");
    if (id[0] == '\0' || strlen(id) >= sizeof(link->id) || strlen(nonce) != RUN_NONCE_SIZE - 1) {
        return err_set(err, -EACCES, "a starter must send JobId, ClaimEpoch and its nonce");
    }
    memcpy(link->id, id, strlen(id) + 1);
    memcpy(link->nonce, nonce, RUN_NONCE_SIZE);
    link->epoch = ad_int_or(who, "ClaimEpoch", 0);
    link->stays = false; /* said anew by each run's JOB_DONE */
    if (bind_run(link) == -EACCES) {
        log_warn(link->shadow->log, "link.refused", "a starter presented a wrong nonce",
                 LOG_TEXT("job", id), LOG_TEXT("peer", address));
        return err_set(err, -EACCES, "wrong nonce");
    }
    return 0;
}

static int admit_caller(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                        struct err *err)
{
    struct link *link = arg;
    const char *ticket = wire_hello_secret(hello, SECRET_TICKET);
    if (ticket[0] != '\0') {
        link->guest = guest_enter(link->shadow, ticket);
        if (link->guest == NULL) {
            return err_set(err, -EACCES, "the ticket is missing, was used before, or is too old");
        }
        wire_proved(link->wire);
        return 0;
    }
    return take_who(link, hello->ad, wire_hello_secret(hello, SECRET_NONCE), peer->address, err);
}

/* ---- a starter whose run is not known
 * ------------------------------------------------------------ */

#define ASK_PAUSE_MS 50 /* time between two questions for strangers */

struct asked {
    struct shadow *shadow;
    struct wire_request *request;
};

static void refuse_stale(struct wire_request *request)
{
    wire_reply_error(request, -ESTALE, "this run of the job has been replaced or has ended");
}

/* Refuses the request for now: the starter connects again, and by then the schedd has told us of
 * the run. */
static void come_again(struct link *link, struct wire_request *request, const char *why)
{
    if (link != NULL) {
        struct wire *wire = link->wire;
        link_destroy(link);
        wire_close(wire);
    }
    wire_reply_error(request, -EAGAIN, "%s", why);
}

static struct link *link_of(const struct shadow *shadow, const struct wire *wire)
{
    for (size_t i = 0; wire != NULL && i < shadow->links.count; i++) {
        struct link *link = shadow->links.items[i];
        if (link->wire == wire) {
            return link;
        }
    }
    return NULL;
}

static void ask_answered(struct run *run, void *arg, int status, const char *text,
                         const struct ad *answer)
{
    struct asked *asked = arg;
    struct wire_request *request = asked->request;
    struct link *link = link_of(asked->shadow, wire_request_wire(request));
    bool placed = status == 0 && answer != NULL && ad_bool_or(answer, "Placed", false);
    (void)run;
    asked->shadow->asking = false;
    mem_free(asked);
    if (placed && wire_request_verb(request) == VERB_JOB_DONE) {
        wire_reply_ok(request, NULL);
    } else if (status == -EAGAIN && link != NULL && bind_run(link) == 0) {
        run_calls_handle(link->run, request); /* JOB_RUN came meanwhile */
    } else if (status == -EAGAIN) {
        come_again(link, request, text);
    } else {
        refuse_stale(request);
    }
}

static void ask_schedd(struct link *link, struct wire_request *request)
{
    struct shadow *shadow = link->shadow;
    uint64_t now_ms = loop_now_ms(shadow->loop);
    if (shadow->asking || now_ms - shadow->asked_ms < ASK_PAUSE_MS) {
        come_again(link, request, "too many requests for unknown runs");
        return;
    }
    shadow->asking = true;
    shadow->asked_ms = now_ms;
    struct asked *asked = mem_alloc(sizeof(*asked));
    *asked = (struct asked){shadow, request};
    struct ad *args = ad_create();
    ad_set_string(args, "Event", "Ask");
    ad_set_string(args, "JobId", link->id);
    ad_set_int(args, "ClaimEpoch", link->epoch);
    report_send(link->shadow, NULL, VERB_JOB_STATUS, args, ask_answered, asked);
}

/* ---- connections
 * --------------------------------------------------------------------------------- */

static void leave_guest(struct link *link)
{
    if (link->guest != NULL) {
        guest_leave(link->guest);
    }
}

static void end_link(struct link *link)
{
    leave_guest(link);
    link_close(link);
}

static void on_request(void *arg, struct wire_request *request)
{
    struct link *link = arg;
    struct err err;
    if (link->guest != NULL) {
        guest_handle(link->guest, request);
        return;
    }
    if (link->stays && link->run == NULL && wire_request_verb(request) == VERB_JOB_FETCH) {
        if (take_who(link, wire_request_args(request), wire_request_secret(request, SECRET_NONCE),
                     "a starter that kept running has reconnected", &err) != 0) {
            wire_reply_error(request, -EACCES, "%s", err.text);
            return;
        }
    }
    if (link->run == NULL && (link->id[0] == '\0' || bind_run(link) == -EACCES)) {
        wire_reply_error(request, -EACCES, "wrong nonce");
        return;
    }
    if (link->run != NULL) {
        run_calls_handle(link->run, request);
    } else {
        ask_schedd(link, request);
    }
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct link *link = arg;
    if (link->run != NULL) {
        log_info(link->shadow->log, "link.closed", why, LOG_TEXT("job", link->id),
                 LOG_INT("status", status));
    }
    leave_guest(link);
    link_destroy(link);
    wire_close(wire);
}

void link_accept(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.request = on_request, .closed = on_closed};
    struct shadow *shadow = arg;
    if (remotes_take(shadow, incoming)) {
        return;
    }
    if (shadow->links.count >= SHADOW_LINKS_MAX) {
        log_error(shadow->log, "link.too_many", "too many connections of starters");
        incoming_refuse(incoming);
        return;
    }
    const struct wire_accept how = {
        .identity = shadow->identity,
        .no_token = true,
        .proves_later = true, /* unless its nonce is that of a run, or its ticket good */
        .admit = admit_caller,
    };
    struct link *link = mem_zalloc(sizeof(*link));
    link->shadow = shadow;
    struct err err;
    if (wire_accept(shadow->context, incoming, &how, &EVENTS, link, &link->wire, &err) != 0) {
        log_warn(shadow->log, "link.not_accepted", err.text);
        mem_free(link);
        return;
    }
    vec_push(&shadow->links, link);
}

void links_end_guest(struct shadow *shadow, const struct guest *guest)
{
    for (size_t i = 0; i < shadow->links.count; i++) {
        struct link *link = shadow->links.items[i];
        if (link->guest == guest) {
            end_link(link);
            return;
        }
    }
}

void links_end(struct shadow *shadow)
{
    while (shadow->links.count > 0) {
        end_link(shadow->links.items[shadow->links.count - 1]);
    }
    vec_fini(&shadow->links, NULL);
}
