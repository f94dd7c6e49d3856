/* cli/token/token_signing_key.c - `roost token key create|endorse`: another signing key for the
 * pool.
 *
 * The key that is valid now confirms the new key (wire/token_key.h).  So tokens of the new key are
 * accepted at once on every machine that has the old public key.  With --names the new key is a
 * limited one (wire/token_limits.h), for a daemon that makes tokens by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/token/cmd_token.h"
#include "cli/listing.h"
#include "wire/token.h"
#include "wire/token_key.h"
#include "wire/verbs.h"

/* Of a limited key, where nothing is said. */
#define LIFE_S    ((int64_t)31 * 86400)
#define EXPIRES_S ((int64_t)365 * 86400)

struct signing {
    bool creates; /* true for `key create`, false for `key endorse` */
    const char *kid;
    const char *by;            /* the key that confirms the new one; NULL: TOKEN_KEY */
    const char *names;         /* a limited key: what its names begin with; NULL: no limits */
    int64_t life_s, expires_s; /* of a limited key: longest life of its tokens, its own life */
};

static int read_duration(struct cli *cli, const char *option, const char *text, int64_t *ret)
{
    struct err err;
    return text_parse_duration_s(text, ret, &err) == 0 && *ret > 0
               ? CLI_OK
               : cli_usage(cli, "%s: '%s' is not a time such as 90d or 12h", option, text);
}

/* Returns CLI_OK when arg is an option with an argument and was read; CLI_USAGE with the error
 * printed. */
static int parse_option(struct cli *cli, struct signing *ret, int *index)
{
    const char *arg = cli->argv[*index];
    bool by = listing_is(arg, "by", 2), names = listing_is(arg, "names", 1);
    bool life = listing_is(arg, "life", 1), expires = listing_is(arg, "expires", 1);
    if (!by && !(ret->creates && (names || life || expires))) {
        return cli_unknown(cli, arg);
    }
    if (++*index == cli->argc) {
        return cli_usage(cli, "%s needs an argument", arg);
    }
    const char *next = cli->argv[*index];
    ret->by = by ? next : ret->by;
    ret->names = names ? next : ret->names;
    return life      ? read_duration(cli, arg, next, &ret->life_s)
           : expires ? read_duration(cli, arg, next, &ret->expires_s)
                     : CLI_OK;
}

static int parse_options(struct cli *cli, struct signing *ret)
{
    const char *verb = cli->argc > 2 ? cli->argv[2] : "";
    *ret = (struct signing){.creates = strcmp(verb, "create") == 0};
    if (!ret->creates && strcmp(verb, "endorse") != 0) {
        return cli_usage(cli, "the action is missing: key create NAME or key endorse NAME");
    }
    for (int i = 3; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        if (arg[0] == '-') {
            int status = parse_option(cli, ret, &i);
            if (status != CLI_OK) {
                return status;
            }
        } else if (ret->kid != NULL) {
            return cli_unknown(cli, arg);
        } else {
            ret->kid = arg;
        }
    }
    if (ret->names == NULL && (ret->life_s != 0 || ret->expires_s != 0)) {
        return cli_usage(cli, "--life and --expires are limits of a key: use them with --names");
    }
    return ret->kid != NULL ? CLI_OK : cli_usage(cli, "the name of the signing key is missing");
}

static int make_limited(struct cli *cli, const struct signing *signing, const char *dir,
                        const char *by)
{
    struct token_key_limited spec = {
        .kid = signing->kid,
        .by = by,
        .limits = {.scopes = SCOPE_READ | SCOPE_ADVERTISE | SCOPE_TICKET,
                   .life_s = signing->life_s != 0 ? signing->life_s : LIFE_S,
                   .until_s = loop_wall_s(cli->loop) +
                              (signing->expires_s != 0 ? signing->expires_s : EXPIRES_S)}};
    struct err err;
    char until[TEXT_UTC_MAX];
    if (strlen(signing->names) >= sizeof(spec.limits.pattern)) {
        return cli_usage(cli, "--names: '%.40s...' is too long", signing->names);
    }
    memcpy(spec.limits.pattern, signing->names, strlen(signing->names) + 1);
    if (token_limits_valid(&spec.limits, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    if (token_key_make_limited(cli->os, cli->loop, dir, &spec, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    text_utc_s(spec.limits.until_s, until);
    (void)printf("Signing key '%s' is in %s, and '%s' has endorsed it until %s, for the names %s "
                 "only: its tokens are valid for at most %lld s each, wherever %s.pub is.\n",
                 signing->kid, dir, by, until, signing->names, (long long)spec.limits.life_s, by);
    return CLI_OK;
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
    if (signing.names != NULL) {
        return make_limited(cli, &signing, dir, by);
    }
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
