/* site/site_common.c - see site_common.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_common.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

const char *site_option(const struct site *site, const char *name, const char *fallback)
{
    for (size_t i = 0; i < site->begun.option_count; i++) {
        if (text_equal_nocase(site->begun.options[i].name, name)) {
            return site->begun.options[i].value;
        }
    }
    return fallback;
}

int site_option_number(const struct site *site, const char *name, int64_t min, int64_t max,
                       int64_t fallback, int64_t *ret, struct err *err)
{
    const char *text = site_option(site, name, NULL);
    int64_t number = fallback;
    if (text != NULL &&
        (text_parse_int64(text, &number, NULL) != 0 || number < min || number > max)) {
        return err_set(err, -EINVAL, "%s = '%s': expected a number from %lld to %lld", name, text,
                       (long long)min, (long long)max);
    }
    *ret = number;
    return 0;
}

int site_option_bool(const struct site *site, const char *name, bool fallback, bool *ret,
                     struct err *err)
{
    const char *text = site_option(site, name, NULL);
    bool value = fallback;
    if (text != NULL && text_parse_bool(text, &value, NULL) != 0) {
        return err_set(err, -EINVAL, "%s = '%s': expected true or false", name, text);
    }
    *ret = value;
    return 0;
}

bool site_is_ours(const struct site *site, const char *name)
{
    return strncmp(name, site->prefix, strlen(site->prefix)) == 0 &&
           site_request_is_name(name, strlen(name), true);
}

/* A copy of the text that JSON can hold. */
static char *harmless_text(const char *text, size_t length)
{
    char *copy = mem_strndup(text, length);
    for (char *at = copy; *at != '\0'; at++) {
        bool blank = *at == '\n' || *at == '\t';
        *at =
            (char)(((unsigned char)*at < ' ' && !blank) || (unsigned char)*at >= 0x7f ? '?' : *at);
    }
    return copy;
}

void site_set_text(json_t *object, const char *key, const char *text, size_t length)
{
    char *copy = harmless_text(text, length);
    CHECK(json_object_set_new(object, key, json_string(copy)) == 0);
    mem_free(copy);
}

void site_add_glidein(json_t *list, const char *name, const char *state, const char *id,
                      const char *reason)
{
    json_t *glidein = json_object();
    site_set_text(glidein, "name", name, strlen(name));
    site_set_text(glidein, "state", state, strlen(state));
    site_set_text(glidein, "id", id, strlen(id));
    if (reason != NULL) {
        site_set_text(glidein, "reason", reason, strlen(reason));
    }
    CHECK(json_array_append_new(list, glidein) == 0);
}
