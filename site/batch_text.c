/* site/batch_text.c - see batch_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/batch_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/text.h"

bool batch_text_is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool batch_text_contains(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(text, list[i]) != NULL) {
            return true;
        }
    }
    return false;
}

void batch_text_array_name(const char *batch, int64_t offset, char ret[SITE_NAME_MAX + 1])
{
    if (offset == 0) {
        (void)snprintf(ret, SITE_NAME_MAX + 1, "%s", batch);
    } else {
        (void)snprintf(ret, SITE_NAME_MAX + 1, "%s+%lld", batch, (long long)offset);
    }
}

int batch_text_glidein_name(const char *array, int64_t number, char ret[SITE_NAME_MAX + 1])
{
    char name[SITE_NAME_MAX + 1];
    int64_t offset = 0;
    size_t length = strcspn(array, "+");
    if ((array[length] == '+' && text_parse_int64(array + length + 1, &offset, NULL) != 0) ||
        offset < 0 || offset > SITE_COUNT_MAX || number < 0 || number > SITE_COUNT_MAX ||
        length > SITE_BATCH_MAX) {
        return -EPROTO;
    }
    (void)snprintf(name, sizeof(name), "%.*s.%lld", (int)length, array,
                   (long long)(offset + number));
    if (!site_request_is_name(name, strlen(name), true)) {
        return -EPROTO;
    }
    memcpy(ret, name, sizeof(name));
    return 0;
}

void batch_text_ranges(const int64_t *numbers, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] == numbers[last] + 1) {
            last++;
        }
        strbuf_printf(out, "%s%" PRId64, i > 0 ? "," : "", numbers[i]);
        if (last > i) {
            strbuf_printf(out, "-%" PRId64, numbers[last]);
        }
        i = last + 1;
    }
}

static void put_assignment(struct strbuf *out, const char *name, const char *word)
{
    struct strbuf quoted;
    strbuf_init(&quoted, 0);
    shell_words_append(&quoted, word);
    strbuf_printf(out, "%s=%s\n", name, strbuf_text(&quoted));
    strbuf_fini(&quoted);
}

void batch_text_script(const struct site_request *request, const char *pilot, const char *directory,
                       int64_t offset, const char *variable, struct strbuf *out)
{
    struct strbuf words;
    strbuf_init(&words, 0);
    for (size_t i = 0; i < request->argument_count; i++) {
        shell_words_append(&words, request->arguments[i]);
    }
    strbuf_puts(out, "#!/bin/sh\n");
    put_assignment(out, "d", directory);
    put_assignment(out, "p", pilot);
    strbuf_printf(out,
                  "n=%s.$((%" PRId64 " + %s))\n"
                  "cd \"$d\" || exit 1\n"
                  "exec >>\"$n.out\" 2>&1\n"
                  "set -- \"$p\" --token \"$d/$n.token\" --name \"$n\" %s\n",
                  request->batch, offset, variable, strbuf_text(&words));
    strbuf_fini(&words);
}
