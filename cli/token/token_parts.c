/* cli/token/token_parts.c - see token_parts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/token/token_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/loop.h"
#include "base/text.h"
#include "base/uuid.h"
#include "cli/cli.h"
#include "wire/token.h"

/* ---- arguments of options */

bool token_is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '"' || *text == '\\') {
            return false;
        }
    }
    return true;
}

int token_read_scopes(struct cli *cli, const char *text, uint32_t *ret)
{
    uint32_t scopes = 0;
    while (*text != '\0') {
        char name[64];
        size_t length = strcspn(text, ", ");
        uint32_t one;
        (void)snprintf(name, sizeof name, "%.*s", (int)length, text);
        if (length > 0 && scope_parse(name, &one) != 0) {
            return cli_usage(cli,
                             "--scope: unknown scope '%s'; expected READ, WRITE, ADVERTISE, "
                             "SCHEDD, ROOSTER, MASTER, FACTORY, NEGOTIATOR or ADMINISTRATOR",
                             name);
        }
        scopes |= length > 0 ? one : 0;
        text += length + strspn(text + length, ", ");
    }
    if (scopes == 0) {
        return cli_usage(cli, "--scope needs at least one scope");
    }
    *ret = scopes;
    return CLI_OK;
}

int token_read_text(struct cli *cli, const char *option, const char *text, char *ret, size_t size)
{
    if (text[0] == '\0' || strlen(text) >= size || !token_is_plain(text)) {
        return cli_usage(cli, "%s: '%s' is empty, too long or contains blanks or quotes", option,
                         text);
    }
    (void)snprintf(ret, size, "%s", text);
    return CLI_OK;
}

int token_read_slots(struct cli *cli, const char *text, uint32_t *ret)
{
    int64_t slots;
    if (text_parse_int64(text, &slots, NULL) != 0 || slots < 1 || slots > TOKEN_SLOTS_MAX) {
        return cli_usage(cli, "--slots: '%s' is not a number from 1 to %d", text, TOKEN_SLOTS_MAX);
    }
    *ret = (uint32_t)slots;
    return CLI_OK;
}

/* ---- parts of a token */

void token_of_this_pool(struct cli *cli, struct token *token)
{
    const char *pool = config_string(cli->config, "POOL_NAME");
    char id[UUID_TEXT_MAX];
    uuid_v7((uint64_t)loop_wall_ms(cli->loop), loop_rng(cli->loop), id);
    (void)snprintf(token->id, sizeof token->id, "%s", id);
    (void)snprintf(token->pool, sizeof token->pool, "%s",
                   pool[0] != '\0' ? pool : config_string(cli->config, "UID_DOMAIN"));
}

void token_signing_key(struct cli *cli, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s/%s.key", config_path(cli->config, "POOL_KEYS"),
                   config_string(cli->config, "TOKEN_KEY"));
}

int token_name_accounts(struct cli *cli, const char *uid_domain, const char *owners,
                        struct token *token, struct err *err)
{
    bool is_schedd = (token->scopes & SCOPE_SCHEDD) != 0;
    bool is_none = text_equal_nocase(uid_domain, "none");
    if (!is_schedd && (uid_domain[0] != '\0' || owners[0] != '\0')) {
        return err_set(err, -EINVAL,
                       "--uid-domain and --owners limit the accounts of a schedd's jobs; use them "
                       "with --scope SCHEDD");
    }
    const char *domain = is_none                 ? ""
                         : uid_domain[0] != '\0' ? uid_domain
                         : is_schedd             ? config_string(cli->config, "UID_DOMAIN")
                                                 : "";
    (void)snprintf(token->uid_domain, sizeof token->uid_domain, "%s", domain); /* bounded */
    (void)snprintf(token->owners, sizeof token->owners, "%s", owners);         /* the same */
    return 0;
}
