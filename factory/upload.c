/* factory/upload.c - see upload.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/upload.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "wire/wire.h"

static void answered(void *arg, struct wire_reply *reply)
{
    struct factory *factory = arg;
    int64_t rejected = reply->args != NULL ? ad_int_or(reply->args, "Rejected", 0) : 0;
    if (rejected > 0) {
        log_error(factory->env.log, "update.rejected",
                  ad_string_or(reply->args, "ErrorString", "an ad was refused"));
    } else if (reply->status == -ESTALE || reply->status == -EBUSY) {
        factory->repeat(factory);
    } else if (reply->status != 0 && reply->status != -ECONNRESET) {
        log_error(factory->env.log, "update.refused", reply->text,
                  LOG_INT("status", reply->status)); /* FACTORY_INTERVAL tries again */
    }
}

static struct ad *begin_args(struct factory *factory)
{
    struct ad *args = ad_create();
    ad_set_int(args, "Epoch", (int64_t)factory->epoch);
    ad_set_int(args, "Sequence", (int64_t)++factory->sequence);
    return args;
}

void upload_ad(struct factory *factory, const struct ad *ad, bool is_whole)
{
    struct wire *wire = uplink_wire(factory->uplink);
    if (wire == NULL) {
        return;
    }
    struct ad *args = begin_args(factory);
    ad_set_bool(args, "Full", is_whole);
    const struct wire_body body = {.args = args, .ads = &ad, .ad_count = 1};
    (void)wire_call(wire, VERB_UPDATE, &body, 0, answered, factory); /* a cut: all are repeated */
    ad_destroy(args);
}

void upload_all_gone(struct factory *factory, const char *type)
{
    struct wire *wire = uplink_wire(factory->uplink);
    char constraint[100];
    if (wire == NULL) {
        return;
    }
    (void)snprintf(constraint, sizeof(constraint), "Factory =?= \"%s\"", factory->name);
    struct ad *args = begin_args(factory);
    ad_set_string(args, "Type", type);
    ad_set_string(args, "Constraint", constraint);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_INVALIDATE, &body, 0, answered, factory);
    ad_destroy(args);
}

void upload_gone(struct factory *factory, const char *type, const char *name, bool is_offline)
{
    struct wire *wire = uplink_wire(factory->uplink);
    if (wire == NULL) {
        return;
    }
    struct ad *args = begin_args(factory);
    ad_set_string(args, "Type", type);
    ad_set_strings(args, "Names", &name, 1);
    ad_set_bool(args, "Offline", is_offline);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_INVALIDATE, &body, 0, answered, factory);
    ad_destroy(args);
}
