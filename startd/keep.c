/* startd/keep.c - keeps this machine up until a time, for an administrator: `roost power keep`.
 *
 * It is durable before it is answered, so that after a restart the machine does not go to sleep
 * while somebody relies on it.  A later request replaces an earlier one; a time in the past removes
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate_look.h"
#include "startd/slot/slots.h"
#include "startd/startd_state.h"
#include "store/store.h"
#include "wire/wire.h"

#define KEEP_MAX_S ((int64_t)366 * 24 * 3600)

static void set_keep(struct keep *keep, int64_t until_s, const char *by, const char *reason)
{
    keep->until_s = until_s;
    (void)snprintf(keep->by, sizeof keep->by, "%s", by);
    (void)snprintf(keep->reason, sizeof keep->reason, "%s", reason);
}

static int restore_keep(void *arg, const char *key, const void *value, size_t length)
{
    struct startd *startd = arg;
    struct ad *ad = NULL;
    struct err err;
    if (strcmp(key, "keep") != 0) {
        return 0;
    }
    if (ad_decode(value, length, NULL, &ad, &err) != 0) {
        log_error(startd->env.log, "keep.damaged", err.text);
        return 0; /* HIBERNATE goes on without it */
    }
    set_keep(&startd->keep, ad_int_or(ad, "Until", 0), ad_string_or(ad, "By", ""),
             ad_string_or(ad, "Reason", ""));
    ad_destroy(ad);
    return 0;
}

int keep_open(struct startd *startd, struct err *err)
{
    return store_load(startd->store, "power", restore_keep, startd, err);
}

static void caller_gone(void *arg)
{
    ((struct startd *)arg)->keep.request = NULL;
}

static void keep_saved(void *arg)
{
    struct startd *startd = arg;
    struct wire_request *request = startd->keep.request;
    startd->keep.request = NULL;
    slots_refresh(startd);
    if (request != NULL) {
        struct ad *args = ad_create();
        const struct wire_body body = {.args = args};
        hibernate_look_put_keep(startd, args);
        wire_reply_ok(request, &body);
        ad_destroy(args);
    }
}

void keep_request(struct startd *startd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    int64_t now_s = loop_wall_s(startd->env.loop);
    int64_t until_s = ad_int_or(args, "Until", -1);
    if (until_s < 0 || until_s > now_s + KEEP_MAX_S) {
        wire_reply_error(request, -EINVAL,
                         "%s: Until must be a time in seconds since 1970, at most a year from now",
                         startd->name);
        return;
    }
    if (going_down_has_begun(startd)) {
        wire_reply_error(request, -EALREADY, "%s is already going to sleep", startd->name);
        return;
    }
    if (startd->keep.request != NULL) {
        wire_reply_error(request, -EBUSY,
                         "%s: another order to keep the machine up is being stored; try again",
                         startd->name);
        return;
    }
    set_keep(&startd->keep, until_s > now_s ? until_s : 0, wire_request_peer(request)->identity,
             ad_string_or(args, "Reason", ""));
    log_info(startd->env.log, "power.keep",
             until_s > now_s ? "the machine is kept up" : "the machine is no longer kept up",
             LOG_TEXT("by", startd->keep.by), LOG_INT("until", startd->keep.until_s),
             LOG_TEXT("reason", startd->keep.reason));
    struct ad *record = ad_create();
    struct strbuf bytes;
    ad_set_int(record, "Until", startd->keep.until_s);
    ad_set_string(record, "By", startd->keep.by);
    ad_set_string(record, "Reason", startd->keep.reason);
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(record, true, &bytes);
    startd->keep.request = request;
    wire_request_on_gone(request, caller_gone, startd);
    struct store_txn *txn = store_begin(startd->store);
    store_put(txn, "power", "keep", bytes.data, bytes.length);
    store_commit(txn, keep_saved, startd);
    strbuf_fini(&bytes);
    ad_destroy(record);
}
