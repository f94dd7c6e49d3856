/* cli/power_lock.c - see power_lock.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/power_lock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "wire/wire.h"

int power_lock_ask(struct cli *cli, const char *const *nodes, size_t count,
                   const struct power_lock_wish *wish, struct cli_reply *reply, struct err *err)
{
    struct ad *args = ad_create();
    ad_set_strings(args, "Nodes", nodes, count);
    ad_set_bool(args, "Lock", wish->locks);
    if (wish->reason != NULL) {
        ad_set_string(args, "Reason", wish->reason);
    }
    if (wish->until_s != 0) {
        ad_set_int(args, "Until", wish->until_s);
    }
    if (wish->drains) {
        ad_set_bool(args, "Drain", true);
    }
    const struct wire_body body = {.args = args};
    int rc = cli_call(cli, cli->collector, NULL, VERB_POWER_LOCK, &body, 0, reply, err);
    ad_destroy(args);
    return rc;
}

bool power_lock_is_in(const struct cli_reply *reply, const char *attribute, const char *node)
{
    struct ad_value list;
    bool found = false;
    if (reply->args == NULL || ad_eval_attr(reply->args, NULL, attribute, NULL, &list) != 0) {
        return false;
    }
    for (size_t i = 0; i < ad_value_count(&list) && !found; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        found = item.type == AD_TYPE_STRING && strcasecmp(item.string.text, node) == 0;
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return found;
}

bool power_lock_is_drain(const char *reason)
{
    size_t length = strlen(POWER_LOCK_DRAINS);
    return strncmp(reason, POWER_LOCK_DRAINS, length) == 0 &&
           (reason[length] == '\0' || reason[length] == ':');
}

static int by_text(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

int power_lock_select(struct cli *cli, const struct listing *listing, struct vec *nodes,
                      struct err *err)
{
    struct listing machines = {0};
    struct cli_reply reply = {0};
    for (size_t i = 0; i < listing->constraints.count; i++) {
        listing_also(&machines, listing->constraints.items[i]);
    }
    int rc =
        listing_query(cli, cli->collector, NULL, "Machine", &machines, NULL, NULL, &reply, err);
    const char **names = mem_alloc((reply.ads.count + 1) * sizeof *names);
    for (size_t i = 0; i < reply.ads.count; i++) {
        names[i] = ad_string_or(reply.ads.items[i], "Machine", "");
    }
    if (reply.ads.count > 1) {
        qsort(names, reply.ads.count, sizeof *names, by_text);
    }
    for (size_t i = 0; i < reply.ads.count && rc == 0; i++) {
        if (names[i][0] != '\0' && (i == 0 || strcasecmp(names[i], names[i - 1]) != 0)) {
            vec_push(nodes, mem_strdup(names[i]));
        }
    }
    mem_free(names);
    cli_reply_fini(&reply);
    listing_fini(&machines);
    return rc;
}
