/* wire/job_record.c - see job_record.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/job_record.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/secret_list.h"

#define LINES_MAX 8

void job_record_write(const struct ad *record, const struct wire_secret *secrets, size_t count,
                      struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(strchr(secrets[i].text, '\n') == NULL);
        strbuf_printf(out, "%d %s\n", (int)secrets[i].kind, secrets[i].text);
    }
    ad_print(record, out);
}

/* Takes the secrets that an older version wrote as attributes; at most as many as there is room
 * for. */
static size_t take_old(struct ad *record, struct wire_secret secrets[LINES_MAX], char *texts[2])
{
    static const struct {
        const char *name;
        enum wire_secret_kind kind;
    } OLD[] = {{"ClaimId", SECRET_CLAIM_ID}, {"_roost_priv_Nonce", SECRET_NONCE}};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(OLD); i++) {
        const char *text = ad_string_or(record, OLD[i].name, "");
        if (text[0] != '\0') {
            texts[i] = mem_strdup(text);
            secrets[count++] = (struct wire_secret){.kind = OLD[i].kind, .text = texts[i]};
        }
        ad_remove(record, OLD[i].name);
    }
    return count;
}

/* Reads one secret's line; false: the ad begins here. */
static bool read_line(const char **at, size_t *left, struct wire_secret *ret, char **text)
{
    const char *end = memchr(*at, '\n', *left);
    size_t length = end != NULL ? (size_t)(end - *at) : 0;
    if (length < 3 || (*at)[0] < '1' || (*at)[0] > '0' + SECRET_KIND_MAX || (*at)[1] != ' ') {
        return false;
    }
    *text = mem_strndup(*at + 2, length - 2);
    *ret = (struct wire_secret){.kind = (enum wire_secret_kind)((*at)[0] - '0'), .text = *text};
    *left -= length + 1;
    *at = end + 1;
    return true;
}

int job_record_read(const char *text, size_t length, struct ad **record,
                    struct secret_list **secrets, struct err *err)
{
    struct wire_secret found[LINES_MAX];
    char *texts[LINES_MAX] = {NULL};
    size_t count = 0;
    struct ad *ad = NULL;
    while (count < LINES_MAX && read_line(&text, &length, &found[count], &texts[count])) {
        count++;
    }
    int result = ad_parse(text, length, &ad, err);
    if (result == 0 && count == 0) {
        count = take_old(ad, found, texts);
    }
    if (result == 0) {
        *record = ad;
        *secrets = secret_list_create(found, count);
    }
    for (size_t i = 0; i < LINES_MAX; i++) {
        secret_free(texts[i]);
    }
    return result;
}
