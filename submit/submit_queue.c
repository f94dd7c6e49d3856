/* submit/submit_queue.c - the arguments of a queue statement: see submit_queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_queue.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_lines.h"

static const char BLANKS[] = " \t";
static const char *const KINDS[] = {"in", "from", "matching"};

static const char *skip_any(const char *at, const char *set)
{
    return at + strspn(at, set);
}

static char *word_of(const char **at, const char *ends)
{
    *at = skip_any(*at, BLANKS);
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

/* Splits the items of `in (...)` at commas or blanks. */
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
        const char *start = skip_any(at, BLANKS);
        if (*start != '#') {
            push_trimmed(items, at, length);
        }
        at += length + (at[length] == '\n' ? 1 : 0);
    }
}

/* ---- where items come from */

/* Reads the text inside "(...", up to the ')' on this line or to a later line that begins with ')'.
 * Line ends are kept. */
static int read_parenthesis(const char *at, struct submit_lines *lines, struct strbuf *ret,
                            struct err *err)
{
    const char *close = strrchr(at, ')');
    if (close != NULL) {
        strbuf_append(ret, at + 1, (size_t)(close - at) - 1);
        return 0;
    }
    unsigned line = lines->line;
    strbuf_printf(ret, "%s\n", at + 1);
    char *text;
    for (; (text = submit_lines_raw(lines)) != NULL; mem_free(text)) {
        if (text[0] == ')') {
            mem_free(text);
            return 0;
        }
        strbuf_printf(ret, "%s\n", text);
    }
    return err_set(err, -EINVAL,
                   "Reached end of file without finding closing brace ')' for Queue command on "
                   "line %u",
                   line);
}

static int parse_list(const char *at, struct submit_lines *lines, bool by_lines,
                      struct submit_queue *ret, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, SUBMIT_FILE_MAX);
    strbuf_puts(&text, "");
    int rc = read_parenthesis(at, lines, &text, err);
    if (rc == 0 && text.failed) {
        rc = err_set(err, -E2BIG, "the list of items is larger than %zu bytes", SUBMIT_FILE_MAX);
    }
    if (rc == 0 && by_lines) {
        split_lines(&ret->items, strbuf_text(&text));
    } else if (rc == 0) {
        split_in(&ret->items, strbuf_text(&text), text.length);
    }
    strbuf_fini(&text);
    return rc;
}

/* Parses `from @=TAG`: each line up to "@TAG" is an item between brackets, whatever it contains.
 * This form is ours, for items that a list in parentheses cannot hold: those that begin with ')' or
 * '#', and names of files with blanks at an end. */
static int parse_verbatim(const char *tag, struct submit_lines *lines, struct submit_queue *ret,
                          struct err *err)
{
    unsigned line = lines->line;
    char *text;
    for (; (text = submit_lines_raw(lines)) != NULL; mem_free(text)) {
        if (text[0] == '@' && strcmp(text + 1, tag) == 0) {
            mem_free(text);
            return 0;
        }
        size_t length = strlen(text);
        if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
            vec_push(&ret->items, mem_strndup(text + 1, length - 2));
        } else {
            push_trimmed(&ret->items, text, length);
        }
    }
    return err_set(err, -EINVAL, "the items that begin on line %u are not closed: '@%s' is missing",
                   line, tag);
}

static int parse_in(const char *at, struct submit_lines *lines, struct submit_queue *ret,
                    struct err *err)
{
    if (*at == '(') {
        return parse_list(at, lines, false, ret, err);
    }
    split_in(&ret->items, at, strlen(at));
    return 0;
}

static int parse_from(const char *at, struct submit_lines *lines, const struct submit_world *world,
                      struct submit_queue *ret, struct err *err)
{
    if (*at == '(') {
        return parse_list(at, lines, true, ret, err);
    }
    if (at[0] == '@' && at[1] == '=') {
        return parse_verbatim(at + 2, lines, ret, err);
    }
    size_t length = strlen(at);
    while (length > 0 && strchr(BLANKS, at[length - 1]) != NULL) {
        length--;
    }
    bool command = length > 0 && at[length - 1] == '|';
    while (command && length > 0 && strchr(" \t|", at[length - 1]) != NULL) {
        length--;
    }
    if (length == 0) {
        return err_set(err, -EINVAL, "`from` needs a file");
    }
    if (command ? world->run == NULL : world->read == NULL) {
        return err_set(
            err, -EINVAL,
            "a queue statement that the schedd evaluates cannot read files or run commands");
    }
    char *path = mem_strndup(at, length), *text = NULL;
    int rc = command ? world->run(world->arg, path, &text, err)
                     : world->read(world->arg, path, &text, err);
    if (rc == 0) {
        split_lines(&ret->items, text);
        mem_free(text);
    }
    mem_free(path);
    return rc;
}

static int parse_matching(const char *at, bool files, bool dirs, const struct submit_world *world,
                          struct submit_queue *ret, struct err *err)
{
    int rc = world->match != NULL
                 ? 0
                 : err_set(err, -EINVAL,
                           "a queue statement that the schedd evaluates cannot match files");
    while (rc == 0 && *(at = skip_any(at, " \t,()")) != '\0') {
        char *word = word_of(&at, " \t,)");
        rc = world->match(world->arg, word, files, dirs, &ret->items, err);
        mem_free(word);
    }
    return rc;
}

/* ---- slices */

struct slice {
    bool is_set, has_start, has_end, has_step;
    int64_t start, end, step;
};

/* Returns whether a text like "[1:a]" is meant as a slice and not as a name or pattern of files. */
static bool looks_like_slice(const char *text, const char *close)
{
    return strchr("0123456789:-+", text[1]) != NULL &&
           memchr(text, ':', (size_t)(close - text)) != NULL &&
           (close[1] == '\0' || strchr(" \t(", close[1]) != NULL);
}

/* Parses a slice "[a:b:c]" and moves *at behind it.  Another '[' belongs to a pattern. */
static int parse_slice(const char **at, struct slice *ret, struct err *err)
{
    const char *text = *at, *close = strchr(text, ']');
    if (text[0] != '[' || close == NULL) {
        return 0;
    }
    for (const char *c = text + 1; c < close; c++) {
        if (strchr("0123456789:-+ \t", *c) == NULL) {
            return !looks_like_slice(text, close)
                       ? 0
                       : err_set(err, -EINVAL, "%.*s is not a slice, [START:END:STEP]",
                                 (int)(close - text) + 1, text);
        }
    }
    char *inside = mem_strndup(text + 1, (size_t)(close - text) - 1);
    struct {
        bool *has;
        int64_t *value;
    } parts[] = {{&ret->has_start, &ret->start},
                 {&ret->has_end, &ret->end},
                 {&ret->has_step, &ret->step}};
    char *part = inside;
    size_t i = 0;
    int rc = 0;
    for (; part != NULL && i < ARRAY_COUNT(parts) && rc == 0; i++) {
        char *colon = strchr(part, ':');
        if (colon != NULL) {
            *colon++ = '\0';
        }
        part += strspn(part, BLANKS);
        part[strcspn(part, BLANKS)] = '\0';
        *parts[i].has = part[0] != '\0';
        if (*parts[i].has) {
            rc = text_parse_int64(part, parts[i].value, NULL);
        }
        part = colon;
    }
    if (rc != 0 || part != NULL || (ret->has_step && ret->step == 0)) {
        rc = err_set(err, -EINVAL, "%.*s is not a slice, [START:END:STEP]", (int)(close - text) + 1,
                     text);
    }
    ret->is_set = rc == 0;
    *at = skip_any(close + 1, BLANKS);
    mem_free(inside);
    return rc;
}

/* Keeps the items that the slice selects. */
static void cut_slice(const struct slice *slice, struct submit_queue *queue)
{
    int64_t count = (int64_t)queue->items.count, kept = 0;
    int64_t start = !slice->has_start ? 0 : slice->start < 0 ? count + slice->start : slice->start;
    int64_t end = !slice->has_end ? count : slice->end < 0 ? count + slice->end : slice->end;
    int64_t step = !slice->has_step ? 1 : slice->step;
    start = start < 0 ? 0 : start;
    queue->indexes = mem_alloc(((size_t)count + 1) * sizeof *queue->indexes);
    for (int64_t i = 0; i < count; i++) {
        if (i >= start && i < end && (i - start) % step == 0) {
            queue->indexes[kept] = (size_t)i;
            queue->items.items[kept++] = queue->items.items[i];
        } else {
            mem_free(queue->items.items[i]);
        }
    }
    queue->items.count = (size_t)kept;
}

/* ---- count and variables */

/* Parses the names of variables up to the keyword; *kind gets the keyword, or "" when there is
 * none. */
static int parse_variables(const char **at, struct submit_queue *ret, char *kind, size_t size,
                           struct err *err)
{
    for (;;) {
        *at = skip_any(*at, " \t,");
        if (**at == '\0') {
            return ret->variables.count == 0
                       ? 0
                       : err_set(err, -EINVAL, "'%s' is not followed by in, from or matching",
                                 (const char *)ret->variables.items[ret->variables.count - 1]);
        }
        char *word = word_of(at, " \t,([");
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
            return err_set(err, -EINVAL, "queue: cannot understand '%.50s'", *at);
        }
        vec_push(&ret->variables, word);
    }
}

static bool has_keyword(const char *at)
{
    for (size_t length; *(at = skip_any(at, " \t,")) != '\0'; at += length) {
        length = strcspn(at, " \t,([");
        for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
            char word[10] = "";
            if (length < sizeof word) {
                memcpy(word, at, length);
            }
            if (text_equal_nocase(word, KINDS[i])) {
                return true;
            }
        }
        length += at[length] == '(' || at[length] == '[' ? 1 : 0;
    }
    return false;
}

/* Parses the count: a number or, in a statement without items, any expression of numbers. */
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

/* Parses the part behind the keyword. */
static int parse_items(const char *at, char kind, struct submit_lines *lines,
                       const struct submit_world *world, struct submit_queue *ret, struct err *err)
{
    struct slice slice = {0};
    bool files = true, dirs = true;
    at = skip_any(at, BLANKS);
    while (kind == 'm') { /* options */
        const char *before = at;
        char *word = word_of(&at, " \t");
        bool any = text_equal_nocase(word, "any"), only_files = text_equal_nocase(word, "files");
        if (!any && !only_files && !text_equal_nocase(word, "dirs")) {
            mem_free(word);
            at = before;
            break;
        }
        files = any || only_files;
        dirs = any || !only_files;
        mem_free(word);
        at = skip_any(at, BLANKS);
    }
    int rc = parse_slice(&at, &slice, err);
    if (rc == 0) {
        rc = kind == 'i'   ? parse_in(at, lines, ret, err)
             : kind == 'f' ? parse_from(at, lines, world, ret, err)
                           : parse_matching(at, files, dirs, world, ret, err);
    }
    if (rc == 0 && slice.is_set) {
        cut_slice(&slice, ret);
    }
    return rc;
}

int submit_queue_parse(const char *args, struct submit_lines *lines,
                       const struct submit_world *world, struct submit_queue *ret, struct err *err)
{
    const char *at = skip_any(args, BLANKS);
    char kind[16] = "";
    ret->count = 1;
    int rc = parse_count(&at, ret, err);
    rc = rc != 0 ? rc : parse_variables(&at, ret, kind, sizeof kind, err);
    if (rc == 0 && kind[0] != '\0') {
        ret->has_items = true;
        rc = parse_items(at, kind[0], lines, world, ret, err);
    }
    return rc;
}

void submit_queue_fini(struct submit_queue *queue)
{
    vec_fini(&queue->variables, mem_free);
    vec_fini(&queue->items, mem_free);
    mem_free(queue->indexes);
    *queue = (struct submit_queue){0};
}

void submit_queue_split(const struct submit_queue *queue, size_t row,
                        void (*set)(void *arg, const char *name, const char *value), void *arg)
{
    const char *at = queue->items.items[row];
    for (size_t i = 0; i < queue->variables.count; i++) {
        bool last = i + 1 == queue->variables.count;
        struct vec one = {0};
        at = skip_any(at, BLANKS);
        size_t length = last ? strlen(at) : strcspn(at, " \t,");
        push_trimmed(&one, at, length);
        set(arg, queue->variables.items[i], one.count > 0 ? one.items[0] : "");
        at += length + (at[length] == ',' ? 1 : 0);
        vec_fini(&one, mem_free);
    }
}

#define DIGEST_TAG "end-of-these-items"

void submit_queue_print(const struct submit_queue *queue, struct strbuf *out)
{
    strbuf_printf(out, "queue %lld", (long long)queue->count);
    for (size_t i = 0; i < queue->variables.count; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? "," : " ", (const char *)queue->variables.items[i]);
    }
    if (queue->has_items) {
        strbuf_puts(out, " from @=" DIGEST_TAG "\n");
        for (size_t i = 0; i < queue->items.count; i++) {
            strbuf_printf(out, "[%s]\n", (const char *)queue->items.items[i]);
        }
        strbuf_puts(out, "@" DIGEST_TAG);
    }
    strbuf_putc(out, '\n');
}
