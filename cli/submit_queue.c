/* cli/submit_queue.c - the arguments of a queue statement: see submit_queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/submit_queue.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/submit_file.h"

static const char BLANKS[] = " \t";
static const char *const KINDS[] = {"in", "from", "matching"};

static const char *skip(const char *at, const char *set)
{
    return at + strspn(at, set);
}

static char *word_of(const char **at, const char *ends)
{
    *at = skip(*at, BLANKS);
    size_t length = strcspn(*at, ends);
    char *word = mem_strndup(*at, length);
    *at += length;
    return word;
}

static void push_trimmed(struct vec *list, const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
        length--;
    }
    while (length > 0 && strchr(BLANKS, *text) != NULL) {
        text++;
        length--;
    }
    if (length > 0) {
        vec_push(list, mem_strndup(text, length));
    }
}

/* Items of `in (...)`: separated by commas or blanks. */
static void split_in(struct vec *items, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t span = 0;
        while (at + span < length && strchr(" \t,\n", text[at + span]) == NULL) {
            span++;
        }
        push_trimmed(items, text + at, span);
        at += span + 1;
    }
}

static void split_lines(struct vec *items, const char *text)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        const char *start = skip(at, BLANKS);
        if (*start != '#') {
            push_trimmed(items, at, length);
        }
        at += length + (at[length] == '\n' ? 1 : 0);
    }
}

static int parse_in(const char *at, const char *block, struct submit_queue *ret, struct err *err)
{
    at = skip(at, BLANKS);
    if (block != NULL) {
        split_in(&ret->items, block, strlen(block));
        return 0;
    }
    if (*at != '(') {
        split_in(&ret->items, at, strlen(at));
        return 0;
    }
    const char *end = strrchr(at, ')');
    if (end == NULL) {
        return err_set(err, -EINVAL, "the list of `in` has no closing parenthesis");
    }
    split_in(&ret->items, at + 1, (size_t)(end - at - 1));
    return 0;
}

static int parse_from(const char *at, const char *block, const struct submit_world *world,
                      struct submit_queue *ret, struct err *err)
{
    at = skip(at, BLANKS);
    if (block != NULL) {
        split_lines(&ret->items, block);
        return 0;
    }
    if (*at == '\0' || *at == '(') {
        return err_set(err, -EINVAL,
                       *at == '(' ? "the list of `from` has no line with a closing parenthesis"
                                  : "`from` needs a file");
    }
    char *path = word_of(&at, "\n"), *text;
    int rc = world->read(world->arg, path, &text, err);
    if (rc == 0) {
        split_lines(&ret->items, text);
        mem_free(text);
    }
    mem_free(path);
    return rc;
}

static int parse_matching(const char *at, const struct submit_world *world,
                          struct submit_queue *ret, struct err *err)
{
    bool files = true, dirs = true;
    int rc = 0;
    while (rc == 0 && *(at = skip(at, BLANKS)) != '\0') {
        char *word = word_of(&at, " \t,");
        at = skip(at, " \t,");
        if (text_equal_nocase(word, "files")) {
            dirs = false;
        } else if (text_equal_nocase(word, "dirs")) {
            files = false;
        } else {
            rc = world->match(world->arg, word, files, dirs, &ret->items, err);
        }
        mem_free(word);
    }
    return rc;
}

/* Names up to the keyword; *kind gets the keyword, "" when there is none. */
static int parse_variables(const char **at, struct submit_queue *ret, char *kind, size_t size,
                           struct err *err)
{
    for (;;) {
        *at = skip(*at, " \t,");
        if (**at == '\0') {
            return ret->variables.count == 0
                       ? 0
                       : err_set(err, -EINVAL, "'%s' is not followed by in, from or matching",
                                 (const char *)ret->variables.items[ret->variables.count - 1]);
        }
        char *word = word_of(at, " \t,(");
        for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
            if (text_equal_nocase(word, KINDS[i])) {
                mem_free(word);
                (void)memcpy(kind, KINDS[i],
                             strlen(KINDS[i]) + 1 <= size ? strlen(KINDS[i]) + 1 : size);
                return 0;
            }
        }
        if (word[0] == '\0' || strpbrk(word, "=\"'$") != NULL) {
            mem_free(word);
            return err_set(err, -EINVAL, "queue: '%.50s' is not understood", *at);
        }
        vec_push(&ret->variables, word);
    }
}

static bool has_keyword(const char *at)
{
    for (size_t length; *(at = skip(at, " \t,")) != '\0'; at += length) {
        length = strcspn(at, " \t,(");
        for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
            char word[10] = "";
            if (length < sizeof word) {
                memcpy(word, at, length);
            }
            if (text_equal_nocase(word, KINDS[i])) {
                return true;
            }
        }
        length += at[length] == '(' ? 1 : 0;
    }
    return false;
}

/* How many: a number, or without items any expression of numbers. */
static int parse_count(const char **at, struct submit_queue *ret, struct err *err)
{
    bool all = !has_keyword(*at);
    if (**at == '\0' || (!all && (**at < '0' || **at > '9') && **at != '-' && **at != '+')) {
        return 0;
    }
    char *text = word_of(at, all ? "" : BLANKS);
    struct ad_expr *expr = NULL;
    struct ad_value value = {0};
    int rc = ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL);
    if (rc == 0) {
        ad_eval(expr, NULL, NULL, NULL, &value);
    }
    if (rc != 0 || value.type != AD_TYPE_INT || value.integer < 0 ||
        value.integer > SUBMIT_JOBS_MAX) {
        rc = err_set(err, -EINVAL, "queue %.100s: not a number of jobs from 0 to %d", text,
                     SUBMIT_JOBS_MAX);
    } else {
        ret->count = value.integer;
    }
    if (expr != NULL) {
        ad_value_fini(&value);
    }
    ad_expr_destroy(expr);
    mem_free(text);
    return rc;
}

int submit_queue_parse(const char *args, const char *block, const struct submit_world *world,
                       struct submit_queue *ret, struct err *err)
{
    const char *at = skip(args, BLANKS);
    char kind[16] = "";
    ret->count = 1;
    int rc = parse_count(&at, ret, err);
    rc = rc != 0 ? rc : parse_variables(&at, ret, kind, sizeof kind, err);
    if (rc != 0 || kind[0] == '\0') {
        return rc;
    }
    ret->has_items = true;
    switch (kind[0]) {
    case 'i':
        return parse_in(at, block, ret, err);
    case 'f':
        return parse_from(at, block, world, ret, err);
    default:
        return parse_matching(at, world, ret, err);
    }
}

void submit_queue_fini(struct submit_queue *queue)
{
    vec_fini(&queue->variables, mem_free);
    vec_fini(&queue->items, mem_free);
}

void submit_queue_split(const struct submit_queue *queue, size_t row,
                        void (*set)(void *arg, const char *name, const char *value), void *arg)
{
    const char *at = queue->items.items[row];
    for (size_t i = 0; i < queue->variables.count; i++) {
        bool last = i + 1 == queue->variables.count;
        struct vec one = {0};
        at = skip(at, BLANKS);
        size_t length = last ? strlen(at) : strcspn(at, " \t,");
        push_trimmed(&one, at, length);
        set(arg, queue->variables.items[i], one.count > 0 ? one.items[0] : "");
        at += length + (at[length] == ',' ? 1 : 0);
        vec_fini(&one, mem_free);
    }
}
