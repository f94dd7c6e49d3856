/* shadow/guest.c - see guest.h.
 *
 * A client's request about a running job is passed to the job's starter, over the connection that
 * the starter has made, and the answer is passed back.  This process keeps nothing of it.  Each
 * request has one answer of bounded size, so the client itself controls the flow.
 *
 * A guest keeps the id and epoch of its run and looks the run up each time, so it holds nothing of
 * a run that is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "shadow/link.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/spool.h"
#include "wire/wire.h"

#define TICKET_MS      60000
#define TICKETS_MAX    1000
#define TICKET_SIZE    33  /* bytes of a ticket, with the terminating zero */
#define FORWARDS_MAX   16  /* requests of one guest that are not answered yet */
#define RUN_GUESTS_MAX 256 /* guests for all runs of the owner */

enum purpose { FOR_TAIL, FOR_SHELL, FOR_SPOOL, FOR_FETCH, PURPOSES };
static const char *const PURPOSE_NAMES[PURPOSES] = {"Tail", "Shell", "Spool", "Fetch"};

struct guest {
    struct shadow *shadow;
    enum purpose purpose;
    char ticket[TICKET_SIZE];
    char token_id[64]; /* token of the client that asked for the ticket; "": over a Unix socket */
    uint64_t until_ms; /* end of a ticket that was not used yet */
    char id[RUN_ID_SIZE];
    int64_t epoch;
    struct vec clusters; /* cluster ids such as "12" */
    struct vec shells;   /* int64_t: numbers of the shells that it opened */
    unsigned forwards;   /* its requests that the starter has not answered */
};

struct guests {
    struct vec tickets, there;     /* guests with an unused ticket; connected guests */
    LIST_HEAD(, forward) forwards; /* requests of guests that starters were sent */
};

/* A guest's request that was passed to a starter. */
struct forward {
    LIST_ENTRY(forward) entry;
    struct shadow *shadow;
    struct guest *guest; /* NULL: the guest is gone */
    struct wire_request *request;
    enum wire_verb verb;
    char id[RUN_ID_SIZE];
    int64_t epoch;
};

static void guest_destroy(void *item)
{
    struct guest *guest = item;
    vec_fini(&guest->clusters, mem_free);
    vec_fini(&guest->shells, mem_free);
    mem_free(guest);
}

static void take_out(struct vec *vec, const void *item)
{
    for (size_t i = 0; i < vec->count; i++) {
        if (vec->items[i] == item) {
            vec_remove_at(vec, i);
            return;
        }
    }
}

/* ---- tickets --------------------------------------------------------------------------------- */

static void forget_old_tickets(struct shadow *shadow)
{
    uint64_t now_ms = loop_now_ms(shadow->loop);
    for (size_t i = shadow->guests->tickets.count; i > 0; i--) {
        struct guest *ticket = shadow->guests->tickets.items[i - 1];
        if (ticket->until_ms <= now_ms) {
            vec_remove_at(&shadow->guests->tickets, i - 1);
            guest_destroy(ticket);
        }
    }
}

static enum purpose purpose_of(const char *name)
{
    for (int i = 0; i < PURPOSES; i++) {
        if (text_equal_nocase(PURPOSE_NAMES[i], name)) {
            return (enum purpose)i;
        }
    }
    return PURPOSES;
}

static void take_clusters(struct guest *guest, const struct ad *args)
{
    struct ad_value list;
    (void)ad_eval_attr(args, NULL, "Ids", NULL, &list); /* absent: no elements */
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            vec_push(&guest->clusters, mem_strdup(item.string.text));
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
}

void guests_admit(struct shadow *shadow, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *ticket = wire_request_secret(request, SECRET_TICKET);
    const char *id = ad_string_or(args, "JobId", "");
    enum purpose purpose = purpose_of(ad_string_or(args, "Purpose", ""));
    forget_old_tickets(shadow);
    if (strlen(ticket) != TICKET_SIZE - 1 || purpose == PURPOSES || strlen(id) >= RUN_ID_SIZE) {
        wire_reply_error(request, -EINVAL, "JOB_ADMIT needs a ticket, Purpose and the jobs");
        return;
    }
    if (shadow->guests->tickets.count >= TICKETS_MAX) {
        wire_reply_error(request, -EBUSY, "too many unused tickets");
        return;
    }
    struct guest *guest = mem_zalloc(sizeof(*guest));
    guest->shadow = shadow;
    guest->purpose = purpose;
    guest->until_ms = loop_now_ms(shadow->loop) + TICKET_MS;
    guest->epoch = ad_int_or(args, "ClaimEpoch", 0);
    memcpy(guest->ticket, ticket, TICKET_SIZE);
    memcpy(guest->id, id, strlen(id) + 1);
    (void)snprintf(guest->token_id, sizeof(guest->token_id), "%s",
                   ad_string_or(args, "TokenId", "")); /* the schedd's are not longer */
    take_clusters(guest, args);
    vec_push(&shadow->guests->tickets, guest);
    wire_reply_ok(request, NULL);
}

struct guest *guest_enter(struct shadow *shadow, const char *ticket)
{
    forget_old_tickets(shadow);
    if (strlen(ticket) != TICKET_SIZE - 1 || shadow->guests->there.count >= RUN_GUESTS_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < shadow->guests->tickets.count; i++) {
        struct guest *guest = shadow->guests->tickets.items[i];
        if (text_equal_secret(guest->ticket, ticket, TICKET_SIZE - 1)) {
            vec_remove_at(&shadow->guests->tickets, i);
            vec_push(&shadow->guests->there, guest);
            log_info(shadow->log, "guest.entered", "a client with a ticket has connected",
                     LOG_TEXT("purpose", PURPOSE_NAMES[guest->purpose]),
                     LOG_TEXT("job", guest->id));
            return guest;
        }
    }
    return NULL;
}

static bool is_among(const char *id, const char *ids)
{
    size_t length = strlen(id);
    for (const char *at = ids; length > 0 && *at != '\0';) {
        size_t width = strcspn(at, ",");
        if (width == length && memcmp(at, id, length) == 0) {
            return true;
        }
        at += width + (at[width] == ',' ? 1 : 0);
    }
    return false;
}

void guests_revoked(struct shadow *shadow, const char *token_ids, struct vec *gone)
{
    for (size_t i = shadow->guests->tickets.count; i > 0; i--) {
        struct guest *ticket = shadow->guests->tickets.items[i - 1];
        if (is_among(ticket->token_id, token_ids)) {
            vec_remove_at(&shadow->guests->tickets, i - 1);
            guest_destroy(ticket);
        }
    }
    for (size_t i = shadow->guests->there.count; i > 0; i--) {
        struct guest *guest = shadow->guests->there.items[i - 1];
        if (is_among(guest->token_id, token_ids)) {
            log_warn(shadow->log, "guest.revoked",
                     "a client was disconnected because its token was revoked",
                     LOG_TEXT("purpose", PURPOSE_NAMES[guest->purpose]), LOG_TEXT("job", guest->id),
                     LOG_TEXT("token_id", guest->token_id));
            vec_push(gone, guest);
        }
    }
}

void guests_put_tokens(const struct shadow *shadow, struct strbuf *out)
{
    const struct vec *lists[] = {&shadow->guests->tickets, &shadow->guests->there};
    for (size_t list = 0; list < ARRAY_COUNT(lists); list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            const struct guest *guest = lists[list]->items[i];
            if (guest->token_id[0] != '\0') {
                strbuf_printf(out, "%s%s", out->length > 0 ? "," : "", guest->token_id);
            }
        }
    }
}

bool guests_are_there(struct shadow *shadow)
{
    forget_old_tickets(shadow);
    return shadow->guests->tickets.count > 0 || shadow->guests->there.count > 0;
}

/* ---- to the starter and back ----------------------------------------------------------------- */

static struct wire *starter_of(struct shadow *shadow, const char *id, int64_t epoch)
{
    const struct run *run = run_find(shadow, id, epoch);
    struct wire *wire = run != NULL && run->link != NULL ? link_wire(run->link) : NULL;
    return wire != NULL && wire_is_ready(wire) ? wire : NULL;
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* a shell that is gone needs no hanging up */
}

static void hang_up(struct shadow *shadow, const char *id, int64_t epoch, int64_t shell)
{
    struct wire *wire = starter_of(shadow, id, epoch);
    if (wire == NULL) {
        return; /* the starter hangs up by itself when its connection ends */
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Shell", shell);
    ad_set_bool(args, "HangUp", true);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_SHELL_WRITE, &body, 0, ignore_answer, NULL);
    ad_destroy(args);
}

static void note_shell(const struct forward *forward, const struct wire_reply *reply)
{
    int64_t shell = reply->args != NULL ? ad_int_or(reply->args, "Shell", 0) : 0;
    if (forward->guest == NULL) {
        hang_up(forward->shadow, forward->id, forward->epoch, shell);
        return;
    }
    int64_t *number = mem_alloc(sizeof(*number));
    *number = shell;
    vec_push(&forward->guest->shells, number);
}

static void forward_destroy(struct forward *forward)
{
    LIST_REMOVE(forward, entry);
    if (forward->guest != NULL) {
        forward->guest->forwards--;
    }
    mem_free(forward);
}

static void starter_answered(void *arg, struct wire_reply *reply)
{
    struct forward *forward = arg;
    if (reply->more) {
        return; /* starters do not answer in parts */
    }
    if (forward->verb == VERB_SHELL_OPEN && reply->status == 0) {
        note_shell(forward, reply);
    }
    if (reply->status == 0) {
        const struct wire_body body = {.args = reply->args,
                                       .blob = reply->blob,
                                       .blob_length = reply->blob_length};
        wire_reply_ok(forward->request, &body);
    } else if (reply->status == -ECONNRESET) {
        wire_reply_error(forward->request, -EAGAIN, "the connection of the starter was lost");
    } else {
        wire_reply_error(forward->request, reply->status, "%s", reply->text);
    }
    forward_destroy(forward);
}

static bool has_shell(const struct guest *guest, int64_t shell)
{
    for (size_t i = 0; i < guest->shells.count; i++) {
        if (*(const int64_t *)guest->shells.items[i] == shell) {
            return true;
        }
    }
    return false;
}

static void forward_request(struct guest *guest, struct wire_request *request)
{
    enum wire_verb verb = wire_request_verb(request);
    const struct ad *args = wire_request_args(request);
    if (run_find(guest->shadow, guest->id, guest->epoch) == NULL) {
        wire_reply_error(request, -ESRCH, "this run of job %s has ended", guest->id);
        return;
    }
    struct wire *wire = starter_of(guest->shadow, guest->id, guest->epoch);
    if (wire == NULL) {
        wire_reply_error(request, -EAGAIN, "the starter of job %s is not connected now", guest->id);
        return;
    }
    bool of_shell = verb == VERB_SHELL_READ || verb == VERB_SHELL_WRITE;
    if (of_shell && !has_shell(guest, ad_int_or(args, "Shell", 0))) {
        wire_reply_error(request, -ENOENT,
                         "this client has not opened the shell that the request names");
        return;
    }
    if (guest->forwards >= FORWARDS_MAX) {
        wire_reply_error(request, -EBUSY, "more than %d requests of this client at once",
                         FORWARDS_MAX);
        return;
    }
    struct forward *one = mem_zalloc(sizeof(*one));
    *one = (struct forward){.shadow = guest->shadow,
                            .guest = guest,
                            .request = request,
                            .verb = verb,
                            .epoch = guest->epoch};
    memcpy(one->id, guest->id, sizeof(one->id));
    struct wire_body body = {.args = args};
    body.blob = wire_request_blob(request, &body.blob_length);
    LIST_INSERT_HEAD(&guest->shadow->guests->forwards, one, entry);
    guest->forwards++;
    int64_t rc = wire_call(wire, verb, &body, 0, starter_answered, one);
    if (rc < 0) {
        forward_destroy(one);
        wire_reply_error(request, -EAGAIN, "the starter of job %s cannot be asked now", guest->id);
    }
}

/* ---- guests ---------------------------------------------------------------------------------- */

void guest_handle(struct guest *guest, struct wire_request *request)
{
    static const unsigned TAIL = 1U << FOR_TAIL, SHELL = 1U << FOR_SHELL;
    enum wire_verb verb = wire_request_verb(request);
    unsigned allowed = 0;
    switch (verb) {
    case VERB_FILE_PEEK:
        allowed = TAIL;
        break;
    case VERB_SHELL_OPEN:
    case VERB_SHELL_READ:
    case VERB_SHELL_WRITE:
        allowed = SHELL;
        break;
    case VERB_SPOOL_LOOK:
    case VERB_SPOOL_PUT:
    case VERB_SPOOL_GET:
    case VERB_SPOOL_END:
        if (guest->purpose == FOR_SPOOL || guest->purpose == FOR_FETCH) {
            const struct spool_right right = {.clusters = &guest->clusters,
                                              .fetches = guest->purpose == FOR_FETCH};
            spool_answer(guest->shadow, &right, request);
            return;
        }
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        return;
    default:
        break;
    }
    if ((allowed & (1U << guest->purpose)) == 0) {
        wire_reply_error(request, -EACCES, "this ticket is not valid for %s", wire_verb_name(verb));
    } else {
        forward_request(guest, request);
    }
}

void guest_leave(struct guest *guest)
{
    struct shadow *shadow = guest->shadow;
    struct forward *one;
    LIST_FOREACH(one, &shadow->guests->forwards, entry)
    {
        if (one->guest == guest) {
            one->guest = NULL; /* the answer goes nowhere */
        }
    }
    for (size_t i = 0; i < guest->shells.count; i++) {
        hang_up(shadow, guest->id, guest->epoch, *(const int64_t *)guest->shells.items[i]);
    }
    take_out(&shadow->guests->there, guest);
    guest_destroy(guest);
}

void guests_begin(struct shadow *shadow)
{
    shadow->guests = mem_zalloc(sizeof(*shadow->guests));
}

void guests_end(struct shadow *shadow)
{
    while (!LIST_EMPTY(&shadow->guests->forwards)) {
        struct forward *one = LIST_FIRST(&shadow->guests->forwards);
        wire_reply_error(one->request, -ESHUTDOWN, "the shadow is stopping");
        forward_destroy(one);
    }
    vec_fini(&shadow->guests->tickets, guest_destroy);
    vec_fini(&shadow->guests->there, guest_destroy);
    mem_free(shadow->guests);
}
