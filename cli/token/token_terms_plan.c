/* cli/token/token_terms_plan.c - see token_terms_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/token/token_terms_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "cli/terminal_plan.h"

#define HOUR_S 3600
#define DAY_S  ((int64_t)24 * HOUR_S)

/* ---- deciding */

static int grant_identity(const char *identity, const char *domain, struct token_terms *ret,
                          struct err *err)
{
    size_t length = strlen(identity), more = strlen(domain);
    memcpy(ret->identity, identity, length + 1);
    if (strchr(identity, '@') != NULL) {
        return 0;
    }
    if (length + 1 + more >= sizeof ret->identity) {
        return err_set(err, -ENAMETOOLONG, "identity '%.80s...@%s' is too long", identity, domain);
    }
    ret->identity[length] = '@';
    memcpy(ret->identity + length + 1, domain, more + 1);
    return 0;
}

static int grant_scopes(const struct token_terms *asked, const struct token_rules *rules,
                        struct token_terms *ret, struct err *err)
{
    char names[128], only[128];
    uint32_t beyond = asked->scopes & ~rules->may_ask;
    if (beyond != 0) {
        return err_set(err, -EPERM,
                       "the request asks for %s, which needs the administrator's consent: name the "
                       "scopes to give (--scope %s)",
                       rules->names(beyond, only, sizeof only),
                       rules->names(asked->scopes, names, sizeof names));
    }
    ret->scopes = asked->scopes != 0 ? asked->scopes : rules->scopes;
    return 0;
}

static int grant_lifetime(const struct token_terms *asked, const struct token_rules *rules,
                          struct token_terms *ret, struct err *err)
{
    if (asked->lifetime_s > rules->lifetime_s) {
        return err_set(err, -EPERM,
                       "the request asks for %" PRId64 " days, and a request alone gives at most "
                       "%" PRId64 "; set the time (--expires)",
                       (asked->lifetime_s + DAY_S - 1) / DAY_S, rules->lifetime_s / DAY_S);
    }
    ret->lifetime_s = asked->lifetime_s != 0 ? asked->lifetime_s : rules->lifetime_s;
    return 0;
}

int token_terms_grant(const struct token_terms *asked, const struct token_terms *said,
                      const struct token_rules *rules, struct token_terms *ret, struct err *err)
{
    struct token_terms given = *said;
    const char *identity = said->identity[0] != '\0' ? said->identity : asked->identity;
    int rc = grant_identity(identity, rules->domain, &given, err);
    if (rc == 0 && said->scopes == 0) {
        rc = grant_scopes(asked, rules, &given, err);
    }
    if (rc == 0 && !said->says_lifetime) {
        rc = grant_lifetime(asked, rules, &given, err);
    }
    if (said->pattern[0] == '\0') {
        memcpy(given.pattern, asked->pattern, sizeof given.pattern);
    }
    given.slots = said->slots != 0 ? said->slots : asked->slots;
    given.says_lifetime = true;
    if (rc == 0) {
        *ret = given;
    }
    return rc;
}

/* ---- showing */

static void put_lifetime(int64_t lifetime_s, struct strbuf *out)
{
    if (lifetime_s == 0) {
        strbuf_puts(out, "never");
    } else if (lifetime_s % DAY_S == 0) {
        strbuf_printf(out, "in %" PRId64 " day%s", lifetime_s / DAY_S,
                      lifetime_s == DAY_S ? "" : "s");
    } else if (lifetime_s >= HOUR_S) {
        strbuf_printf(out, "in %" PRId64 "h%02" PRId64 "m", lifetime_s / HOUR_S,
                      lifetime_s % HOUR_S / 60);
    } else {
        strbuf_printf(out, "in %" PRId64 " s", lifetime_s);
    }
}

static void put_slots(uint32_t slots, struct strbuf *out)
{
    if (slots == 0) {
        strbuf_puts(out, "64 of each machine");
    } else {
        strbuf_printf(out, "%" PRIu32, slots);
    }
}

/* Appends a line with one term.  Control characters are replaced, because the text comes from
 * somebody whose identity has not been checked yet. */
static void put_text(const char *name, const char *given, const char *asked, struct strbuf *out)
{
    size_t begin = out->length;
    strbuf_printf(out, "  %-9s %s", name, given);
    if (asked[0] != '\0' && strcmp(asked, given) != 0) {
        strbuf_printf(out, "   (asked: %s)", asked);
    }
    if (!out->failed) {
        terminal_clean(out->data + begin, out->length - begin);
    }
    strbuf_putc(out, '\n');
}

void token_terms_line(const char *name, const char *value, struct strbuf *out)
{
    put_text(name, value, "", out);
}

void token_terms_show(const struct token_terms *asked, const struct token_terms *given,
                      token_scope_names_f names, struct strbuf *out)
{
    char wanted[128], got[128];
    put_text("identity", given->identity, asked->identity, out);
    put_text("scopes", names(given->scopes, got, sizeof got),
             names(asked->scopes, wanted, sizeof wanted), out);
    put_text("names", given->pattern[0] != '\0' ? given->pattern : "any", asked->pattern, out);
    strbuf_puts(out, "  slots     ");
    put_slots(given->slots, out);
    if (asked->slots != 0 && asked->slots != given->slots) {
        strbuf_puts(out, "   (asked: ");
        put_slots(asked->slots, out);
        strbuf_putc(out, ')');
    }
    strbuf_puts(out, "\n  expires   ");
    put_lifetime(given->lifetime_s, out);
    if (asked->lifetime_s != 0 && asked->lifetime_s != given->lifetime_s) {
        strbuf_puts(out, "   (asked: ");
        put_lifetime(asked->lifetime_s, out);
        strbuf_putc(out, ')');
    }
    strbuf_putc(out, '\n');
}
