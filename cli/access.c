/* cli/access.c - see access.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "wire/wire.h"

int access_job_id(const char *word, char *ret, size_t size, struct err *err)
{
    bool whole = strchr(word, '.') != NULL;
    if (!jobs_plan_is_id(word) || strlen(word) + 3 > size) {
        return err_set(err, -EINVAL, "'%.100s' is not a job id such as 12.0", word);
    }
    (void)snprintf(ret, size, "%s%s", word, whole ? "" : ".0"); /* fits */
    return 0;
}

bool access_is_passing(int status)
{
    return status == -EAGAIN || status == -ECONNRESET || status == -ETIMEDOUT ||
           status == -ENOTCONN || status == -ESHUTDOWN || status == -EPIPE;
}

static int dial_shadow(struct cli *cli, const struct ad *answer, const char *ticket,
                       struct wire **ret, struct err *err)
{
    const struct wire_secret secret = {SECRET_TICKET, SECRET_OF_ARGS, ticket};
    const struct wire_dial how = {
        .address = ad_string_or(answer, "ShadowAddress", ""),
        .route = ad_string_or(answer, "ShadowRoute", ""),
        .name = "",
        .pin = ad_string_or(answer, "ShadowPin", ""),
        .secrets = &secret,
        .secret_count = 1,
    };
    int rc = cli_dial_as(cli, &how, ret, err);
    return rc != 0 ? err_prefix(err, rc, "cannot reach the shadow") : 0;
}

int access_dial(struct cli *cli, const struct ad *args, struct wire **ret, struct ad **answer,
                struct err *err)
{
    struct cli_reply reply;
    const struct wire_body body = {.args = args};
    int rc = cli_schedd(cli, err);
    if (rc != 0) {
        return rc;
    }
    rc = cli_call(cli, cli->schedd, NULL, VERB_JOB_ACCESS, &body, 0, &reply, err);
    if (rc == 0 && reply.args == NULL) {
        rc = err_set(err, -EPROTO, "the schedd sent no ticket");
    }
    rc = rc != 0 ? rc
                 : dial_shadow(cli, reply.args, secret_list_find(reply.secrets, SECRET_TICKET), ret,
                               err);
    if (rc == 0 && answer != NULL) {
        *answer = reply.args;
        reply.args = NULL;
    }
    cli_reply_fini(&reply);
    return rc;
}

int access_run(struct cli *cli, const char *purpose, const char *job_id, struct wire **ret,
               struct err *err)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Purpose", purpose);
    ad_set_string(args, "JobId", job_id);
    int rc = access_dial(cli, args, ret, NULL, err);
    ad_destroy(args);
    return rc;
}
