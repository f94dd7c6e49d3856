/* cli/token/token_signing_key.c - `roost token key create|endorse`: another signing key for the
 * pool.
 *
 * The key that is valid now confirms the new key (wire/token_key.h).  So tokens of the new key are
 * accepted at once on every machine that has the old public key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "cli/cli.h"
#include "cli/token/cmd_token.h"
#include "cli/listing.h"
#include "wire/token.h"

struct signing {
    bool creates; /* true for `key create`, false for `key endorse` */
    const char *kid;
    const char *by; /* the key that confirms the new one; NULL: TOKEN_KEY */
};

static int parse_options(struct cli *cli, struct signing *ret)
{
    const char *verb = cli->argc > 2 ? cli->argv[2] : "";
    *ret = (struct signing){.creates = strcmp(verb, "create") == 0};
    if (!ret->creates && strcmp(verb, "endorse") != 0) {
        return cli_usage(cli, "the action is missing: key create NAME or key endorse NAME");
    }
    for (int i = 3; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        if (arg[0] == '-' && listing_is(arg, "by", 2)) {
            if (++i == cli->argc) {
                return cli_usage(cli, "%s needs an argument", arg);
            }
            ret->by = cli->argv[i];
        } else if (arg[0] == '-' || ret->kid != NULL) {
            return cli_unknown(cli, arg);
        } else {
            ret->kid = arg;
        }
    }
    return ret->kid != NULL ? CLI_OK : cli_usage(cli, "the name of the signing key is missing");
}

int token_signing(struct cli *cli)
{
    struct signing signing;
    struct err err = {""};
    int status = parse_options(cli, &signing);
    if (status != CLI_OK) {
        return status;
    }
    if (cli_config(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    const char *dir = config_path(cli->config, "POOL_KEYS");
    const char *by = signing.by != NULL ? signing.by : config_string(cli->config, "TOKEN_KEY");
    int rc = signing.creates ? token_key_make(cli->os, cli->loop, dir, signing.kid, &err) : 0;
    if (rc == 0) {
        rc = token_key_endorse(cli->os, dir, signing.kid, by, &err);
        if (rc != 0 && signing.creates) {
            return cli_fail(cli,
                            "signing key '%s' was made, but '%s' did not endorse it: %s (run "
                            "`roost token key endorse %s --by KEY`)",
                            signing.kid, by, err.text, signing.kid);
        }
    }
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    (void)printf("Signing key '%s' is in %s, and '%s' has endorsed it: its tokens are valid "
                 "wherever %s.pub is.\nTo make tokens with this key, set TOKEN_KEY = \"%s\".\n",
                 signing.kid, dir, by, by, signing.kid);
    return CLI_OK;
}
