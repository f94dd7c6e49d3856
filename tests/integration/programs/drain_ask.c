/* tests/integration/programs/drain_ask.c - asks a machine to drain, for tests of whole pools.
 *
 *   drain_ask MACHINE REQUEST          the arguments of START_DRAINING, an ad; commits, and says
 * the id drain_ask MACHINE REQUEST hang     says the id when there is an offer, and neither commits
 * nor goes away until it is killed drain_ask MACHINE cancel [ID]
 *
 * As whoever ROOST_CONFIG makes it.  Exit status 0; 1: what failed, and an ErrorCode, on stderr.
 *
 * LINK: cli drain wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "drain/drain_client.h"

struct asked {
    struct drain_client *client;
    bool hangs, done;
    enum drain_code code;
};

static void on_offered(void *arg, const char *id, const struct ad *offer)
{
    struct asked *asked = arg;
    (void)printf("%s %lld %lld\n", id,
                 (long long)ad_int_or(offer, "ExpectedMachineGracefulDrainingBadput", -1),
                 (long long)ad_int_or(offer, "ExpectedMachineFastDrainingBadput", -1));
    (void)fflush(stdout);
    if (!asked->hangs) {
        drain_client_commit(asked->client);
    }
}

static void on_done(void *arg, enum drain_code code, const char *text, const struct ad *answer)
{
    struct asked *asked = arg;
    (void)answer;
    if (code != DRAIN_OK) {
        (void)fprintf(stderr, "%d %s\n", (int)code, text);
    }
    asked->code = code;
    asked->done = true;
}

static int ask(struct cli *cli, int argc, char **argv, struct asked *asked, struct err *err)
{
    static const struct drain_client_events EVENTS = {.offered = on_offered, .done = on_done};
    struct ad *args = NULL;
    struct drain_request request;
    if (strcmp(argv[2], "cancel") == 0) {
        return drain_client_cancel(cli->collector, argv[1], argc > 3 ? argv[3] : NULL, NULL,
                                   &EVENTS, asked, &asked->client, err);
    }
    int rc = ad_parse(argv[2], strlen(argv[2]), &args, err);
    if (rc != 0 || drain_request_read(args, &request, err) != DRAIN_OK) {
        ad_destroy(args);
        return rc != 0 ? rc : -1;
    }
    asked->hangs = argc > 3;
    rc = drain_client_start(cli->collector, argv[1], &request, &EVENTS, asked, &asked->client, err);
    drain_request_fini(&request);
    ad_destroy(args);
    return rc;
}

int main(int argc, char **argv)
{
    struct cli cli = {0};
    struct asked asked = {0};
    struct err err = {""};
    if (argc < 3) {
        (void)fprintf(stderr, "drain_ask MACHINE REQUEST|cancel [hang|ID]\n");
        return 2;
    }
    if (loop_create(&cli.loop, &err) != 0 || os_create(cli.loop, &cli.os, &err) != 0 ||
        cli_collector(&cli, &err) != 0 || ask(&cli, argc, argv, &asked, &err) != 0) {
        (void)fprintf(stderr, "0 %s\n", err.text);
        return 1;
    }
    loop_run_until(cli.loop, &asked.done);
    drain_client_destroy(asked.client);
    session_close(&cli);
    os_destroy(cli.os);
    loop_destroy(cli.loop);
    return asked.code == DRAIN_OK ? 0 : 1;
}
