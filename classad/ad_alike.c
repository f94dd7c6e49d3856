/* classad/ad_alike.c - see ad_alike.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_alike.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "classad/ad_parse.h"
#include "classad/ad_pool.h"

#define CHANGED_MAX 40 /* lines that differ from the model's; with more, parsing is no dearer */

struct model_line {
    const char *text; /* in the model's text */
    size_t length;    /* without the newline */
    size_t head;      /* bytes of the name and of what follows, with the '=' */
};

struct ad_alike {
    struct ad_pool *pool;
    struct ad *model; /* NULL: none */
    char *text;       /* of the model */
    struct model_line *lines;
    size_t count, capacity;
    struct strbuf changed; /* the lines of the present ad that differ */
};

struct ad_alike *ad_alike_create(struct ad_pool *pool)
{
    struct ad_alike *alike = mem_zalloc(sizeof *alike);
    alike->pool = pool;
    strbuf_init(&alike->changed, AD_TEXT_MAX);
    return alike;
}

static void forget_model(struct ad_alike *alike)
{
    ad_destroy(alike->model);
    mem_free(alike->text);
    alike->model = NULL;
    alike->text = NULL;
    alike->count = 0;
}

void ad_alike_destroy(struct ad_alike *alike)
{
    if (alike != NULL) {
        forget_model(alike);
        mem_free(alike->lines);
        strbuf_fini(&alike->changed);
        mem_free(alike);
    }
}

static bool is_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        at++;
    }
    return at == end;
}

/* Returns the bytes of "NAME =" at the beginning of a line; 0: the line begins otherwise, or needs
 * the parser to be understood. */
static size_t head_of(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length &&
           (line[at] == '_' || (line[at] >= 'a' && line[at] <= 'z') ||
            (line[at] >= 'A' && line[at] <= 'Z') || (line[at] >= '0' && line[at] <= '9'))) {
        at++;
    }
    const size_t name = at;
    while (at < length && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    return name > 0 && at < length && line[at] == '=' ? at + 1 : 0;
}

static void add_line(struct ad_alike *alike, const char *text, size_t length, size_t head)
{
    if (alike->count == alike->capacity) {
        alike->capacity = alike->capacity == 0 ? 256 : alike->capacity * 2;
        alike->lines = mem_realloc(alike->lines, alike->capacity * sizeof(*alike->lines));
    }
    alike->lines[alike->count++] = (struct model_line){text, length, head};
}

/* Makes the ad the model, if each of its lines sets another attribute. */
static void keep_model(struct ad_alike *alike, const struct ad *ad, const char *text, size_t length)
{
    forget_model(alike);
    alike->text = mem_alloc(length + 1); /* of these bytes, some of which may be 0 */
    memcpy(alike->text, text, length);
    const char *end = alike->text + length;
    size_t head = 1;
    for (const char *line = alike->text; line < end && head > 0 && !is_blank(line, end);) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next : end;
        head = head_of(line, (size_t)(next - line));
        add_line(alike, line, (size_t)(next - line), head);
        line = next + 1;
    }
    if (head > 0 && alike->count == ad_count(ad)) {
        alike->model = ad_copy(ad);
    } else {
        forget_model(alike);
    }
}

/* Collects the lines that differ from the model's in their values.  False: the ad differs in more.
 */
static bool compare_lines(struct ad_alike *alike, const char *text, const char *end)
{
    size_t changed = 0;
    strbuf_clear(&alike->changed);
    for (size_t i = 0; i < alike->count; i++) {
        const struct model_line *line = &alike->lines[i];
        const size_t left = (size_t)(end - text);
        if (left > line->length && memcmp(text, line->text, line->length) == 0 &&
            text[line->length] == '\n') {
            text += line->length + 1;
            continue;
        }
        if (left <= line->head || memcmp(text, line->text, line->head) != 0 ||
            ++changed > CHANGED_MAX) {
            return false;
        }
        const char *next = memchr(text, '\n', left);
        next = next != NULL ? next : end;
        strbuf_append(&alike->changed, text, (size_t)(next - text));
        strbuf_putc(&alike->changed, '\n');
        text = next < end ? next + 1 : end;
    }
    return is_blank(text, end);
}

/* Returns the ad made from the model; NULL: the ad must be parsed in full. */
static struct ad *change_model(struct ad_alike *alike, const struct ad_context *context)
{
    struct ad *changes;
    if (alike->changed.length == 0) {
        return ad_copy(alike->model);
    }
    if (alike->changed.failed || ad_parse_long_in(alike->changed.data, alike->changed.length,
                                                  context, &changes, NULL, NULL) != 0) {
        return NULL;
    }
    struct ad *ad = ad_change(alike->pool, alike->model, changes);
    ad_destroy(changes);
    return ad;
}

int ad_alike_parse(struct ad_alike *alike, const char *text, size_t length,
                   const struct ad_context *context, struct ad **ret, size_t *fault,
                   struct err *err)
{
    struct ad *ad = NULL;
    if (alike->model != NULL && length <= AD_TEXT_MAX &&
        compare_lines(alike, text, text + length)) {
        ad = change_model(alike, context);
    }
    if (ad != NULL) {
        ad_pack(alike->pool, alike->model, ad);
        *ret = ad;
        return 0;
    }
    int rc = ad_parse_long_in(text, length, context, &ad, fault, err);
    if (rc == 0) {
        ad_pack(alike->pool, alike->model, ad);
        keep_model(alike, ad, text, length);
        *ret = ad;
    }
    return rc;
}
