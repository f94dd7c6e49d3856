/* eventlog/event_reader.c - see event_reader.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "eventlog/event_reader.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "eventlog/event_text.h"

struct event_reader {
    struct strbuf text;
    size_t at;       /* all text before this was returned */
    size_t looked;   /* no event ends before this */
    size_t skipped;  /* number of pieces that were not an event */
    bool in_garbage; /* the event is too long: skip up to the next end */
};

struct event_reader *event_reader_create(void)
{
    struct event_reader *reader = mem_zalloc(sizeof(*reader));
    strbuf_init(&reader->text, 0);
    return reader;
}

void event_reader_destroy(struct event_reader *reader)
{
    if (reader != NULL) {
        strbuf_fini(&reader->text);
        mem_free(reader);
    }
}

size_t event_reader_skipped(const struct event_reader *reader)
{
    return reader->skipped;
}

static void drop_read(struct event_reader *reader)
{
    size_t left = reader->text.length - reader->at;
    if (reader->at > 0) {
        struct strbuf rest;
        strbuf_init(&rest, 0);
        if (left > 0) {
            strbuf_append(&rest, reader->text.data + reader->at, left);
        }
        strbuf_fini(&reader->text);
        reader->text = rest;
        reader->looked = reader->looked > reader->at ? reader->looked - reader->at : 0;
        reader->at = 0;
    }
}

void event_reader_feed(struct event_reader *reader, const char *bytes, size_t length)
{
    drop_read(reader);
    strbuf_append(&reader->text, bytes, length);
    if (reader->text.failed) { /* fed without being read */
        strbuf_clear(&reader->text);
        reader->looked = reader->at = 0;
        reader->in_garbage = true;
    }
}

/* Returns whether this complete line is equal to wanted. */
static bool line_is(const char *line, size_t length, const char *wanted)
{
    if (length > 0 && line[length - 1] == '\r') {
        length--;
    }
    return length == strlen(wanted) && memcmp(line, wanted, length) == 0;
}

static bool read_number(const char **at, const char *end, int64_t *ret)
{
    bool minus = *at < end && **at == '-';
    const char *p = *at + (minus ? 1 : 0);
    int64_t value = 0;
    size_t digits = 0;
    for (; p < end && *p >= '0' && *p <= '9' && digits < 18; p++, digits++) {
        value = value * 10 + (*p - '0');
    }
    *at = p;
    *ret = minus ? -value : value;
    return digits > 0;
}

static bool read_letter(const char **at, const char *end, char wanted)
{
    if (*at < end && **at == wanted) {
        (*at)++;
        return true;
    }
    return false;
}

/* Reads the head of an event in text form: "005 (008.000.000) ". */
static bool parse_text(const char *text, size_t length, struct event_entry *ret)
{
    const char *at = text, *end = text + length;
    int64_t subproc = 0;
    return read_number(&at, end, &ret->type) && read_letter(&at, end, ' ') &&
           read_letter(&at, end, '(') && read_number(&at, end, &ret->cluster) &&
           read_letter(&at, end, '.') && read_number(&at, end, &ret->proc) &&
           read_letter(&at, end, '.') && read_number(&at, end, &subproc) &&
           read_letter(&at, end, ')') && read_letter(&at, end, ' ') && ret->type >= 0;
}

static bool parse_json(const char *text, size_t length, struct event_entry *ret)
{
    struct ad *ad = NULL;
    if (ad_parse_json(text, length, NULL, &ad, NULL, NULL) != 0) {
        return false;
    }
    ret->type = ad_int_or(ad, "EventTypeNumber", -1);
    ret->cluster = ad_int_or(ad, "Cluster", -1);
    ret->proc = ad_int_or(ad, "Proc", -1);
    ad_destroy(ad);
    return ret->type >= 0;
}

/* Reads a number such as <a n="Cluster"><i>8</i></a> of a whole <c> element, in which each
 * attribute has a line of its own, as HTCondor and we write it. */
static int64_t xml_int(const char *text, size_t length, const char *name)
{
    struct strbuf wanted;
    int64_t value = -1;
    strbuf_init(&wanted, 0);
    strbuf_printf(&wanted, "<a n=\"%s\"><i>", name);
    for (size_t at = 0; at + wanted.length <= length; at++) {
        if (memcmp(text + at, wanted.data, wanted.length) == 0) {
            const char *digits = text + at + wanted.length;
            if (!read_number(&digits, text + length, &value)) {
                value = -1;
            }
            break;
        }
    }
    strbuf_fini(&wanted);
    return value;
}

static bool parse_xml(const char *text, size_t length, struct event_entry *ret)
{
    ret->type = xml_int(text, length, "EventTypeNumber");
    ret->cluster = xml_int(text, length, "Cluster");
    ret->proc = xml_int(text, length, "Proc");
    return ret->type >= 0;
}

/* Returns the end of the event that begins at `at`, behind its last line; 0: it has not arrived
 * yet. */
static size_t find_end(struct event_reader *reader)
{
    const char *data = reader->text.data;
    char first = data[reader->at];
    const char *last = first == '{' ? "}" : first == '<' ? "</c>" : "...";
    size_t line = reader->looked > reader->at ? reader->looked : reader->at;
    for (;;) {
        const char *next = memchr(data + line, '\n', reader->text.length - line);
        if (next == NULL) {
            reader->looked = line;
            return 0;
        }
        size_t after = (size_t)(next - data) + 1;
        bool cut_before = first != '{' && first != '<' && line > reader->at &&
                          line_is(data + line, after - 1 - line, "{");
        if (cut_before) { /* another form begins: what was before has no end */
            return line;
        }
        if (line_is(data + line, after - 1 - line, last)) {
            return after;
        }
        line = after;
    }
}

static bool parse_event(const char *text, size_t length, struct event_entry *ret)
{
    return text[0] == '{'   ? parse_json(text, length, ret)
           : text[0] == '<' ? parse_xml(text, length, ret)
                            : parse_text(text, length, ret);
}

bool event_reader_next(struct event_reader *reader, struct event_entry *ret)
{
    while (reader->at < reader->text.length) {
        const char *text = reader->text.data + reader->at;
        if (text[0] == '\n') {
            reader->at++;
            continue;
        }
        size_t end = find_end(reader);
        if (end == 0) {
            if (reader->text.length - reader->at > EVENT_BYTES_MAX) {
                reader->at = reader->looked; /* the line under way may be an end */
                reader->skipped += reader->in_garbage ? 0 : 1;
                reader->in_garbage = true;
                if (reader->text.length - reader->at > EVENT_BYTES_MAX) {
                    reader->at = reader->looked = reader->text.length;
                }
            }
            return false;
        }
        size_t length = end - reader->at;
        struct event_entry entry = {.text = text, .length = length};
        reader->at = reader->looked = end;
        bool good =
            !reader->in_garbage && length <= EVENT_BYTES_MAX && parse_event(text, length, &entry);
        if (good) {
            *ret = entry;
            return true;
        }
        reader->skipped += reader->in_garbage ? 0 : 1;
        reader->in_garbage = false;
    }
    return false;
}
