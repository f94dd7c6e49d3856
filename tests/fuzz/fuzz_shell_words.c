/* Fuzzing of lines that are split as a shell does: refused with one line, or words that are written
 * and read again as the same words.
 *
 * LINK: base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/shell_words.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const struct vec *words)
{
    struct vec again = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < words->count; i++) {
        shell_words_append(&text, words->items[i]);
    }
    CHECK(strchr(strbuf_text(&text), '\n') == NULL);
    CHECK(shell_words_parse(strbuf_text(&text), text.length, &again, NULL) == 0);
    CHECK(again.count == words->count);
    for (size_t i = 0; i < words->count; i++) {
        CHECK(strcmp(again.items[i], words->items[i]) == 0);
    }
    vec_fini(&again, mem_free);
    strbuf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vec words = {0};
    struct err err = {""};
    if (size > 65536) { /* what is written may be four times as long */
        return 0;
    }
    int rc = shell_words_parse((const char *)data, size, &words, &err);
    CHECK(rc == 0 ? err.text[0] == '\0' : words.count == 0 && strstr(err.text, "column ") != NULL);
    if (rc == 0) {
        same_again(&words);
    }
    vec_fini(&words, mem_free);
    return 0;
}
