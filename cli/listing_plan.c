/* cli/listing_plan.c - see listing_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/listing_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_format.h"
#include "classad/ad_lister.h"
#include "classad/ad_time.h"
#include "classad/ad_xml.h"
#include "cli/print_format_plan.h"
#include "cli/table_plan.h"

#define PORTION_BYTES ((size_t)256 << 10)

struct item {
    char *text; /* the argument as it was given, also its column's heading */
    struct ad_expr *expr;
    char *format; /* format of -format; NULL: an item of -af */
};

static void item_destroy(void *arg)
{
    struct item *item = arg;
    ad_expr_destroy(item->expr);
    mem_free(item->text);
    mem_free(item->format);
    mem_free(item);
}

void listing_fini(struct listing *listing)
{
    vec_fini(&listing->items, item_destroy);
    vec_fini(&listing->attributes, mem_free);
    vec_fini(&listing->constraints, mem_free);
    print_format_destroy(listing->custom);
    ad_destroy(listing->target);
}

/* ---- options */

bool listing_is(const char *arg, const char *word, size_t min)
{
    if (arg[0] != '-') {
        return false;
    }
    arg += arg[1] == '-' ? 2 : 1;
    size_t length = strlen(arg);
    return length >= min && length <= strlen(word) && strncmp(arg, word, length) == 0;
}

static int add_item(struct listing *listing, const char *text, const char *format,
                    const struct ad_context *context, struct err *err)
{
    struct ad_expr *expr;
    int rc = ad_expr_parse_in(text, strlen(text), AD_OLD, context, &expr, NULL, err);
    if (rc != 0) {
        return err_prefix(err, rc, "'%s' is neither an attribute nor an expression", text);
    }
    struct item *item = mem_zalloc(sizeof *item);
    item->text = mem_strdup(text);
    item->expr = expr;
    item->format = format != NULL ? mem_strdup(format) : NULL;
    vec_push(&listing->items, item);
    return 0;
}

static int read_flags(struct listing_autoformat *how, const char *flags, struct err *err)
{
    for (; *flags != '\0'; flags++) {
        switch (*flags) {
        case 'h':
            how->headings = true;
            break;
        case 'j':
            how->job_id = true;
            break;
        case 'l':
            how->labels = true;
            break;
        case 'V':
            how->values = how->values == LISTING_BARE ? LISTING_QUOTED : how->values;
            break;
        case 'r':
        case 'o':
            how->values = LISTING_UNEVALUATED;
            break;
        case 't':
            how->gaps.tab = true;
            break;
        case ',':
            how->gaps.comma = true;
            break;
        case 'n':
            how->gaps.newline = true;
            break;
        case 'g':
            how->gaps.empty = true;
            break;
        case 'T':
            how->numbers = LISTING_DURATION;
            break;
        case 'Y':
            how->numbers = how->numbers == LISTING_NUMBER ? LISTING_DATE : how->numbers;
            break;
        default:
            return err_set(err, -EINVAL,
                           "unknown flag -af:%c; expected one of , t n g l h j V r T Y", *flags);
        }
    }
    return 0;
}

static int read_auto(struct listing *listing, const char *flags, int argc, char *const *argv,
                     int *at, const struct ad_context *context, struct err *err)
{
    int rc = flags != NULL ? read_flags(&listing->autoformat, flags + 1, err) : 0;
    size_t before = listing->items.count;
    listing->style = LISTING_AUTO;
    listing->has_auto = true;
    while (rc == 0 && *at + 1 < argc && argv[*at + 1][0] != '-') {
        rc = add_item(listing, argv[++*at], NULL, context, err);
    }
    if (rc == 0 && listing->items.count == before) {
        rc = err_set(err, -EINVAL, "-af needs the names of attributes");
    }
    return rc;
}

static void read_names(struct vec *names, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ", ");
        if (length > 0) {
            vec_push(names, mem_strndup(text, length));
        }
        text += length + strspn(text + length, ", ");
    }
}

int listing_plan_zoned(const char *text, const struct ad_context *context, char **ret,
                       struct err *err)
{
    struct ad_expr *expr;
    int rc = ad_expr_parse_in(text, strlen(text), AD_OLD, context, &expr, NULL, err);
    if (rc != 0) {
        return err_prefix(err, rc, "-constraint %s", text);
    }
    struct strbuf zoned;
    strbuf_init(&zoned, 0);
    if (strcasestr(text, "absTime") != NULL) { /* else it stays as it was written */
        ad_expr_print(expr, AD_OLD, &zoned);
        text = zoned.failed ? text : strbuf_text(&zoned);
    }
    *ret = mem_strdup(text);
    strbuf_fini(&zoned);
    ad_expr_destroy(expr);
    return 0;
}

static int read_constraint(struct listing *listing, const char *text,
                           const struct ad_context *context, struct err *err)
{
    char *zoned;
    int rc = listing_plan_zoned(text, context, &zoned, err);
    if (rc == 0) {
        vec_push(&listing->constraints, zoned);
    }
    return rc;
}

static bool is_auto(const char *arg, const char **flags)
{
    char word[16];
    *flags = strchr(arg, ':');
    size_t length = *flags != NULL ? (size_t)(*flags - arg) : strlen(arg);
    if (length >= sizeof word) {
        return false;
    }
    memcpy(word, arg, length);
    word[length] = '\0';
    return listing_is(word, "af", 2) || listing_is(word, "autoformat", 2);
}

int listing_plan_option(struct listing *listing, int argc, char *const *argv, int *at,
                        const struct ad_context *context, struct err *err)
{
    const char *arg = argv[*at];
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    const char *flags;
    int rc = 0;
    if (listing_is(arg, "long", 1)) {
        listing->style = LISTING_LONG;
        return 1;
    }
    if (listing_is(arg, "jsonl", 5)) {
        listing->style = LISTING_JSON_LINES;
        return 1;
    }
    if (listing_is(arg, "json", 2)) {
        listing->style = LISTING_JSON;
        return 1;
    }
    if (listing_is(arg, "xml", 2)) {
        listing->style = LISTING_XML;
        return 1;
    }
    if (is_auto(arg, &flags)) {
        rc = read_auto(listing, flags, argc, argv, at, context, err);
        return rc != 0 ? rc : 1;
    }
    bool is_format = listing_is(arg, "format", 1);
    bool is_constraint = listing_is(arg, "constraint", 3);
    bool is_limit = listing_is(arg, "limit", 2);
    bool is_attributes = listing_is(arg, "attributes", 3);
    if (!is_format && !is_constraint && !is_limit && !is_attributes) {
        return 0;
    }
    if (next == NULL || (is_format && *at + 2 >= argc)) {
        return err_set(err, -EINVAL, "%s needs %s", arg,
                       is_format       ? "a format and an attribute"
                       : is_constraint ? "an expression"
                       : is_limit      ? "a number"
                                       : "names of attributes, with commas between");
    }
    if (is_format) {
        listing->style = LISTING_FORMAT;
        listing->has_format = true;
        rc = add_item(listing, argv[*at + 2], next, context, err);
        *at += 2;
    } else {
        ++*at;
        if (is_constraint) {
            rc = read_constraint(listing, next, context, err);
        } else if (is_attributes) {
            read_names(&listing->attributes, next);
        } else if (text_parse_int64(next, &listing->limit, NULL) != 0 || listing->limit < 1) {
            rc = err_set(err, -EINVAL, "-limit needs a number above 0, not '%s'", next);
        }
    }
    return rc != 0 ? rc : 1;
}

void listing_also(struct listing *listing, const char *constraint)
{
    vec_push(&listing->constraints, mem_strdup(constraint));
}

char *listing_plan_constraint(const struct listing *listing)
{
    struct strbuf text;
    if (listing->constraints.count == 0) {
        return NULL;
    }
    strbuf_init(&text, 0);
    for (size_t i = 0; i < listing->constraints.count; i++) {
        strbuf_printf(&text, "%s(%s)", i > 0 ? " && " : "",
                      (const char *)listing->constraints.items[i]);
    }
    return strbuf_take(&text);
}

bool listing_plan_names(const struct listing *listing, struct vec *names)
{
    bool known = listing->style == LISTING_TABLE;
    if (listing->style == LISTING_AUTO || listing->style == LISTING_FORMAT) {
        known = true;
        for (size_t i = 0; i < listing->items.count; i++) {
            const struct item *item = listing->items.items[i];
            known = known && ad_name_is_valid(item->text);
            vec_push(names, mem_strdup(item->text));
        }
        vec_push(names, mem_strdup("ClusterId"));
        vec_push(names, mem_strdup("ProcId"));
    } else if (!known && listing->attributes.count > 0) {
        known = true;
        for (size_t i = 0; i < listing->attributes.count; i++) {
            vec_push(names, mem_strdup(listing->attributes.items[i]));
        }
    }
    return known;
}

/* ---- -xml: attributes in the order of the alphabet */

struct attribute {
    const char *name;
    const struct ad_expr *expr;
};

static int by_name(const void *a, const void *b)
{
    return ad_name_compare(((const struct attribute *)a)->name,
                           ((const struct attribute *)b)->name);
}

static bool is_wanted(const struct listing *listing, const char *name)
{
    if (ad_attr_is_private(name)) {
        return false;
    }
    for (size_t i = 0; i < listing->attributes.count; i++) {
        if (ad_name_compare(listing->attributes.items[i], name) == 0) {
            return true;
        }
    }
    return listing->attributes.count == 0;
}

/* The ad's attributes in alphabetical order, as -xml prints them; an array owned by the caller. */
static struct attribute *sorted_attributes(const struct listing *listing, const struct ad *ad,
                                           size_t *count)
{
    struct attribute *list = mem_alloc((ad_count(ad) + 1) * sizeof *list);
    struct attribute one;
    size_t at = 0;
    *count = 0;
    while (ad_next(ad, &at, &one.name, &one.expr)) {
        if (is_wanted(listing, one.name)) {
            list[(*count)++] = one;
        }
    }
    qsort(list, *count, sizeof *list, by_name);
    return list;
}

static void print_xml(const struct listing *listing, const struct ad *ad, struct strbuf *out)
{
    size_t count;
    struct attribute *list = sorted_attributes(listing, ad, &count);
    strbuf_puts(out, "<c>\n");
    for (size_t i = 0; i < count; i++) {
        ad_print_xml_attribute(list[i].name, list[i].expr, out);
    }
    strbuf_puts(out, "</c>\n\n");
    mem_free(list);
}

/* ---- -af */

/* Appends a number as a duration (-af:T) or as a date (-af:Y).  False: neither was asked for, or
 * the value is not a number. */
static bool put_time(enum listing_number how, const struct ad_value *value,
                     const struct ad_context *context, struct strbuf *out)
{
    bool whole = value->type == AD_TYPE_INT;
    if (how == LISTING_NUMBER || (!whole && value->type != AD_TYPE_REAL)) {
        return false;
    }
    int64_t number = whole                                       ? value->integer
                     : value->real > -1e15 && value->real < 1e15 ? (int64_t)value->real
                                                                 : 0;
    if (how == LISTING_DURATION) {
        table_plan_duration(number, out);
        return true;
    }
    struct ad_calendar at;
    number += context->zone_offset_s != NULL ? context->zone_offset_s(context->arg, number) : 0;
    ad_calendar_of(number, &at);
    strbuf_printf(out, "%04lld-%02d-%02d %02d:%02d:%02d", (long long)at.year, at.month, at.day,
                  at.hour, at.minute, at.second);
    return true;
}

static void print_cell(const struct listing *listing, const struct item *item, const struct ad *ad,
                       const struct ad_context *context, struct strbuf *out)
{
    const struct listing_autoformat *how = &listing->autoformat;
    struct ad_value value;
    if (how->values == LISTING_UNEVALUATED) {
        const struct ad_expr *expr =
            ad_name_is_valid(item->text) ? ad_lookup(ad, item->text) : item->expr;
        if (expr == NULL) {
            strbuf_puts(out, "undefined");
        } else {
            ad_expr_print(expr, AD_OLD, out);
        }
        return;
    }
    ad_eval(item->expr, ad, listing->target, context, &value);
    if (put_time(how->numbers, &value, context, out)) {
        /* it is printed */
    } else if (how->values == LISTING_QUOTED) {
        ad_value_print(&value, out);
    } else {
        ad_value_print_bare(&value, out);
    }
    ad_value_fini(&value);
}

static void put_padding(struct strbuf *out, size_t have, size_t width)
{
    for (; have < width; have++) {
        strbuf_putc(out, ' ');
    }
}

/* Appends a line, with the separators between its cells.  Cells are padded only under headings. */
static void print_row(const struct listing *listing, char *const *cells, const size_t *widths,
                      const char *job, size_t job_width, struct strbuf *out)
{
    const struct listing_gaps *gaps = &listing->autoformat.gaps;
    size_t count = listing->items.count;
    const char *between = gaps->newline ? "\n" : gaps->tab ? "\t" : " ";
    if (listing->autoformat.job_id) {
        strbuf_puts(out, job);
        put_padding(out, strlen(job), job_width);
        strbuf_puts(out, gaps->tab ? "\t" : " ");
    }
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        strbuf_puts(out, cells[i]);
        if (gaps->comma && !last) {
            strbuf_putc(out, ',');
        }
        if (!last || gaps->tab) {
            put_padding(out, strlen(cells[i]), widths[i]);
        }
        if (!last) {
            strbuf_puts(out, between);
        }
    }
    strbuf_puts(out, gaps->empty ? "\n\n" : "\n");
}

static void put_job_id(const struct ad *ad, struct strbuf *out)
{
    int64_t cluster;
    if (ad_get_int(ad, "ClusterId", &cluster) == 0) {
        strbuf_printf(out, "%lld.%lld", (long long)cluster, (long long)ad_int_or(ad, "ProcId", 0));
    }
}

static char *job_id_text(const struct ad *ad)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    put_job_id(ad, &text);
    (void)strbuf_text(&text); /* what is no job has none */
    return strbuf_take(&text);
}

static char *cell_text(const struct listing *listing, const struct item *item, const struct ad *ad,
                       const struct ad_context *context)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    if (listing->autoformat.labels) {
        strbuf_printf(&text, "%s = ", item->text);
    }
    print_cell(listing, item, ad, context, &text);
    char *cell = strbuf_take(&text);
    return cell != NULL ? cell : mem_strdup("error");
}

/* Prints a line without padding, for output without headings. */
static void print_plain(const struct listing *listing, const struct ad *ad,
                        const struct ad_context *context, struct strbuf *out)
{
    const struct listing_autoformat *how = &listing->autoformat;
    const char *between = how->gaps.newline ? "\n" : how->gaps.tab ? "\t" : " ";
    if (how->job_id) {
        put_job_id(ad, out);
        strbuf_puts(out, how->gaps.tab ? "\t" : " ");
    }
    for (size_t c = 0; c < listing->items.count; c++) {
        const struct item *item = listing->items.items[c];
        if (c > 0) {
            strbuf_puts(out, how->gaps.comma ? "," : "");
            strbuf_puts(out, between);
        }
        if (how->labels) {
            strbuf_printf(out, "%s = ", item->text);
        }
        print_cell(listing, item, ad, context, out);
    }
    strbuf_puts(out, how->gaps.empty ? "\n\n" : "\n");
}

static void print_under_headings(const struct listing *listing, const struct ad *const *ads,
                                 size_t count, const struct ad_context *context, struct strbuf *out)
{
    size_t columns = listing->items.count, job_width = 2;
    size_t *widths = mem_zalloc((columns + 1) * sizeof *widths);
    char **cells = mem_zalloc((columns * count + 1) * sizeof *cells);
    char **headings = mem_zalloc((columns + 1) * sizeof *headings);
    char **jobs = mem_zalloc((count + 1) * sizeof *jobs);
    for (size_t c = 0; c < columns; c++) {
        headings[c] = ((struct item *)listing->items.items[c])->text;
        widths[c] = strlen(headings[c]);
    }
    for (size_t i = 0; i < count; i++) {
        jobs[i] = job_id_text(ads[i]);
        job_width = strlen(jobs[i]) > job_width ? strlen(jobs[i]) : job_width;
        for (size_t c = 0; c < columns; c++) {
            char *cell = cell_text(listing, listing->items.items[c], ads[i], context);
            widths[c] = strlen(cell) > widths[c] ? strlen(cell) : widths[c];
            cells[i * columns + c] = cell;
        }
    }
    if (count > 0) {
        print_row(listing, headings, widths, "ID", job_width, out);
    }
    for (size_t i = 0; i < count; i++) {
        print_row(listing, cells + i * columns, widths, jobs[i], job_width, out);
        mem_free(jobs[i]);
    }
    for (size_t i = 0; i < columns * count; i++) {
        mem_free(cells[i]);
    }
    mem_free(jobs);
    mem_free(headings);
    mem_free(cells);
    mem_free(widths);
}

/* ---- -format */

static void print_text(const char *text, size_t length, struct strbuf *out)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && i + 1 < length && strchr("nt\\", text[i + 1]) != NULL) {
            i++;
            strbuf_putc(out, text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : '\\');
        } else if (text[i] == '%' && i + 1 < length && text[i + 1] == '%') {
            i++;
            strbuf_putc(out, '%');
        } else {
            strbuf_putc(out, text[i]);
        }
    }
}

/* Prints one item of -format.  For an undefined value it prints nothing, not even the text around
 * it. */
static void print_formatted(const struct item *item, const struct ad *ad, const struct ad *target,
                            const struct ad_context *context, struct strbuf *out)
{
    struct ad_value value;
    struct ad_format how;
    size_t length = strlen(item->format);
    if (!ad_format_find(item->format, &how)) {
        print_text(item->format, length, out);
        return;
    }
    ad_eval(item->expr, ad, target, context, &value);
    if (value.type != AD_TYPE_UNDEFINED) {
        print_text(item->format, how.begin, out);
        ad_format_print(&how, &value, out);
        print_text(item->format + how.end, length - how.end, out);
    }
    ad_value_fini(&value);
}

/* Prints -format and -af items in the order of the arguments; a line ends after the last of several
 * -af items in a row. */
static void print_mixed(const struct listing *listing, const struct ad *ad,
                        const struct ad_context *context, struct strbuf *out)
{
    for (size_t i = 0; i < listing->items.count; i++) {
        const struct item *item = listing->items.items[i];
        const struct item *next = i + 1 < listing->items.count ? listing->items.items[i + 1] : NULL;
        if (item->format != NULL) {
            print_formatted(item, ad, listing->target, context, out);
            continue;
        }
        print_cell(listing, item, ad, context, out);
        strbuf_puts(out, next != NULL && next->format == NULL ? " " : "\n");
    }
}

/* Prints an ad as one line of JSON.  Replacing newlines is safe: inside a string, JSON has none. */
static void print_json_line(struct ad_lister *lister, const struct ad *ad, struct strbuf *out)
{
    size_t begin = out->length;
    ad_lister_print(lister, ad, out);
    if (out->failed) {
        return;
    }
    size_t to = begin;
    for (size_t at = begin; at < out->length; at++) {
        if (out->data[at] != '\n') {
            out->data[to++] = out->data[at];
            continue;
        }
        while (at + 1 < out->length && out->data[at + 1] == ' ') {
            at++;
        }
        if (to > begin + 1 && out->data[to - 1] == ',') {
            out->data[to++] = ' ';
        }
    }
    out->length = to;
    strbuf_putc(out, '\n');
}

/* ---- all */

/* Whether -af and -format were both given. */
static bool is_mixed(const struct listing *listing)
{
    return listing->has_auto && listing->has_format &&
           (listing->style == LISTING_AUTO || listing->style == LISTING_FORMAT);
}

/* Whether a line depends on all ads: the widths of columns do, and so does an order. */
static bool is_whole(const struct listing *listing)
{
    return listing->style == LISTING_CUSTOM ||
           (listing->style == LISTING_AUTO && !is_mixed(listing) && listing->autoformat.headings);
}

void listing_plan_begin(struct listing_print *print, const struct listing *listing,
                        const struct ad *const *ads, size_t count, const struct ad_context *context)
{
    *print =
        (struct listing_print){.listing = listing, .ads = ads, .count = count, .context = context};
    if (listing->style == LISTING_LONG || listing->style == LISTING_JSON ||
        listing->style == LISTING_JSON_LINES) {
        print->lister =
            ad_lister_create(listing->style == LISTING_LONG ? AD_LISTER_LONG : AD_LISTER_JSON,
                             (const char *const *)listing->attributes.items,
                             listing->attributes.count);
    }
}

static void print_whole(const struct listing_print *print, struct strbuf *out)
{
    const struct listing *listing = print->listing;
    if (listing->style == LISTING_CUSTOM) {
        print_format_print(listing->custom, print->ads, print->count, print->context, out);
    } else {
        print_under_headings(listing, print->ads, print->count, print->context, out);
    }
}

static void print_one(const struct listing_print *print, const struct ad *ad, struct strbuf *out)
{
    const struct listing *listing = print->listing;
    if (listing->style == LISTING_LONG) {
        ad_lister_print(print->lister, ad, out);
        strbuf_putc(out, '\n');
    } else if (listing->style == LISTING_XML) {
        print_xml(listing, ad, out);
    } else if (listing->style == LISTING_JSON) {
        strbuf_puts(out, print->next > 0 ? ",\n" : "");
        ad_lister_print(print->lister, ad, out);
    } else if (listing->style == LISTING_JSON_LINES) {
        print_json_line(print->lister, ad, out);
    } else if (is_mixed(listing)) {
        print_mixed(listing, ad, print->context, out);
    } else if (listing->style == LISTING_AUTO) {
        print_plain(listing, ad, print->context, out);
    } else {
        for (size_t k = 0; k < listing->items.count; k++) {
            print_formatted(listing->items.items[k], ad, listing->target, print->context, out);
        }
    }
}

bool listing_plan_more(struct listing_print *print, struct strbuf *out)
{
    enum listing_style style = print->listing->style;
    if (is_whole(print->listing)) {
        print_whole(print, out);
        return false;
    }
    if (print->next == 0 && style == LISTING_JSON) {
        strbuf_puts(out, "[\n");
    } else if (print->next == 0 && style == LISTING_XML) {
        strbuf_puts(out, ad_xml_header);
    }
    for (bool full = false; print->next < print->count && !full; print->next++) {
        print_one(print, print->ads[print->next], out);
        full = out->length >= PORTION_BYTES;
    }
    if (print->next < print->count) {
        return true;
    }
    if (style == LISTING_JSON) {
        strbuf_puts(out, "]\n");
    } else if (style == LISTING_XML) {
        strbuf_puts(out, ad_xml_footer);
    }
    return false;
}

void listing_plan_end(struct listing_print *print)
{
    ad_lister_destroy(print->lister);
}

void listing_plan_print(const struct listing *listing, const struct ad *const *ads, size_t count,
                        const struct ad_context *context, struct strbuf *out)
{
    struct listing_print print;
    listing_plan_begin(&print, listing, ads, count, context);
    while (listing_plan_more(&print, out)) {
        /* all of it in out */
    }
    listing_plan_end(&print);
}
