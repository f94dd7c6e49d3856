/* cli/power_keep_off.c - see power_keep_off.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/power_keep_off.h"

#include <stddef.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "wire/verbs.h"
#include "wire/wire.h"

int power_keep_off(struct cli *cli, const char *node, const char *reason, struct err *err)
{
    struct listing offline = {0};
    struct cli_reply asleep = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "Offline =?= true && Machine == \"%s\"", node);
    listing_also(&offline, strbuf_text(&text));
    strbuf_clear(&text);
    strbuf_printf(&text, "switched off by an administrator while asleep%s%s",
                  reason != NULL ? ": " : "", reason != NULL ? reason : "");
    struct ad *change = ad_create();
    ad_set_bool(change, "PowerKeptOff", true);
    ad_set_string(change, "PowerKeptOffReason", strbuf_text(&text));
    int rc =
        listing_query(cli, cli->collector, NULL, "Machine", &offline, NULL, NULL, &asleep, err);
    for (size_t i = 0; i < asleep.ads.count && rc == 0; i++) {
        struct cli_reply reply = {0};
        struct ad *args = ad_create();
        ad_set_string(args, "Type", "Machine");
        ad_set_string(args, "Name", ad_string_or(asleep.ads.items[i], "Name", ""));
        const struct ad *const changes[] = {change};
        const struct wire_body body = {.args = args, .ads = changes, .ad_count = 1};
        rc = cli_call(cli, cli->collector, NULL, VERB_MERGE, &body, 0, &reply, err);
        cli_reply_fini(&reply);
        ad_destroy(args);
    }
    ad_destroy(change);
    strbuf_fini(&text);
    cli_reply_fini(&asleep);
    listing_fini(&offline);
    return rc;
}
