/* drain/drain_client.c - the requester's side of draining: see drain_client.h.
 *
 * Two calls may be open at a time: START_DRAINING, which is answered with a part (the offer) and,
 * when all is decided, with its last reply; and COMMIT_DRAINING.  Once COMMIT_DRAINING was sent,
 * only its answer counts, and the last reply of START_DRAINING is ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drain/drain_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "wire/wire.h"

struct drain_client {
    struct wire *hub;
    const struct drain_client_events *events;
    void *arg;
    char *machine;
    char uplink[WIRE_NAME_MAX + 1];
    char id[DRAIN_ID_MAX];
    int64_t open;   /* START_DRAINING, or CANCEL_DRAINING; 0: not any more */
    int64_t commit; /* COMMIT_DRAINING */
    bool committing;
    bool estimate;
};

static enum drain_code code_of(const struct wire_reply *reply)
{
    int64_t code = reply->args != NULL ? ad_int_or(reply->args, "ErrorCode", 0) : 0;
    if (code > 0 && code <= INT32_MAX) {
        return (enum drain_code)code;
    }
    switch (reply->status) {
    case -EACCES:
    case -ENOKEY:
        return DRAIN_NO_AUTHORITY;
    case -EHOSTUNREACH:
        return DRAIN_NOT_THERE;
    case -ETIMEDOUT:
    case -ECONNRESET:
        return DRAIN_NO_ANSWER;
    case -EINVAL:
        return DRAIN_BAD_REQUEST;
    default:
        return DRAIN_CANNOT; /* an older startd, say */
    }
}

/* Reports the end.  Call it last, because the callback may free the client. */
static void end_request(struct drain_client *client, enum drain_code code, const char *why,
                        const struct ad *answer)
{
    char text[ERR_TEXT_MAX] = "";
    if (code != DRAIN_OK) {
        (void)snprintf(text, sizeof text, "%s: %s", client->machine, why);
    }
    client->events->done(client->arg, code, text, answer);
}

static void commit_answered(void *arg, struct wire_reply *reply)
{
    struct drain_client *client = arg;
    client->commit = 0;
    if (reply->status == 0) {
        end_request(client, DRAIN_OK, "", reply->args);
    } else if (code_of(reply) == DRAIN_NO_ANSWER) {
        end_request(client, DRAIN_NO_ANSWER,
                    "no answer to the commit; it is not known whether the machine is draining",
                    NULL);
    } else {
        end_request(client, code_of(reply), reply->text, reply->args);
    }
}

static void request_answered(void *arg, struct wire_reply *reply)
{
    struct drain_client *client = arg;
    if (reply->more) { /* the offer */
        if (client->id[0] == '\0' && reply->args != NULL) {
            (void)snprintf(client->id, sizeof client->id, "%s",
                           ad_string_or(reply->args, "DrainingRequestId", ""));
            client->events->offered(client->arg, client->id, reply->args);
        }
        return;
    }
    client->open = 0;
    if (client->committing) {
        return; /* commit_answered() says how it ended */
    }
    if (reply->status != 0) {
        end_request(client, code_of(reply), reply->text, reply->args);
    } else if (client->estimate || client->id[0] == '\0') {
        end_request(client, DRAIN_OK, "", reply->args);
    } else {
        end_request(client, DRAIN_TOO_LATE, "the startd's offer to drain has ended", NULL);
    }
}

static int call_startd(struct drain_client *client, enum wire_verb verb, const struct ad *args,
                       wire_reply_f reply, int64_t *ret, struct err *err)
{
    const struct wire_body body = {.args = args};
    int64_t sent = wire_relay(client->hub, client->uplink, verb, &body, 0, reply, client);
    if (sent < 0) {
        return err_set(err, (int)sent, "cannot ask %s through the collector: %s", client->machine,
                       err_code_text((int)sent));
    }
    *ret = sent;
    return 0;
}

static struct drain_client *create_client(struct wire *hub, const char *machine,
                                          const struct drain_client_events *events, void *arg)
{
    struct drain_client *client = mem_zalloc(sizeof *client);
    client->hub = hub;
    client->events = events;
    client->arg = arg;
    client->machine = mem_strdup(machine);
    (void)snprintf(client->uplink, sizeof client->uplink, "startd/%s", machine);
    return client;
}

static int begin_request(struct drain_client *client, enum wire_verb verb, struct ad *args,
                         struct drain_client **ret, struct err *err)
{
    int rc = call_startd(client, verb, args, request_answered, &client->open, err);
    ad_destroy(args);
    if (rc != 0) {
        drain_client_destroy(client);
        return rc;
    }
    *ret = client;
    return 0;
}

int drain_client_start(struct wire *hub, const char *machine, const struct drain_request *request,
                       const struct drain_client_events *events, void *arg,
                       struct drain_client **ret, struct err *err)
{
    struct drain_client *client = create_client(hub, machine, events, arg);
    struct ad *args = ad_create();
    client->estimate = request->estimate;
    drain_request_write(request, args);
    return begin_request(client, VERB_START_DRAINING, args, ret, err);
}

int drain_client_cancel(struct wire *hub, const char *machine, const char *id, const char *reason,
                        const struct drain_client_events *events, void *arg,
                        struct drain_client **ret, struct err *err)
{
    struct drain_client *client = create_client(hub, machine, events, arg);
    struct ad *args = ad_create();
    if (id != NULL && id[0] != '\0') {
        ad_set_string(args, "DrainingRequestId", id);
    }
    if (reason != NULL) {
        ad_set_string(args, "DrainReason", reason);
    }
    return begin_request(client, VERB_CANCEL_DRAINING, args, ret, err);
}

void drain_client_commit(struct drain_client *client)
{
    CHECK(client->id[0] != '\0' && !client->committing);
    struct ad *args = ad_create();
    ad_set_string(args, "DrainingRequestId", client->id);
    /* Not sent: the connection is over, and the open call says so in the next turn. */
    client->committing = call_startd(client, VERB_COMMIT_DRAINING, args, commit_answered,
                                     &client->commit, NULL) == 0;
    ad_destroy(args);
}

void drain_client_destroy(struct drain_client *client)
{
    if (client == NULL) {
        return;
    }
    if (client->open > 0) {
        wire_cancel(client->hub, client->open);
    }
    if (client->commit > 0) {
        wire_cancel(client->hub, client->commit);
    }
    mem_free(client->machine);
    mem_free(client);
}
