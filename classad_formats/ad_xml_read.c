/* classad_formats/ad_xml_read.c - see ad_xml_read.h.
 *
 * Elements are translated to new syntax as they arrive, `<a n="x"><i>1</i></a>` into `'x' = 1;`,
 * and each outermost ad is parsed as that text.  So all limits hold, and there is one parser for
 * expressions.  The text of an element is kept until its end tag, because it is complete only then.
 *
 * libxml2 compares each attribute of a tag with each other one, and with those that declarations in
 * the document give by default.  The number of both is limited before libxml2 handles them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad_formats/ad_xml_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/xmlerror.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad_formats/xml_library.h"

#define READY_MAX          100000 /* most ads that wait to be taken */
#define PIECE_BYTES        16384  /* bytes that libxml2 gets at once */
#define MARKUP_BYTES_MAX   65536  /* longest tag; also most bytes of all declarations */
#define TAG_ATTRIBUTES_MAX 16

enum tag {
    TAG_CLASSADS,
    TAG_AD,
    TAG_ATTRIBUTE,
    TAG_LIST,
    TAG_INTEGER,
    TAG_REAL,
    TAG_STRING,
    TAG_EXPRESSION,
    TAG_ABSTIME,
    TAG_RELTIME,
    TAG_BOOLEAN,
    TAG_UNDEFINED,
    TAG_ERROR,
    TAG_NONE,
};

static const char *const TAGS[TAG_NONE] = {"classads", "c",  "a",  "l", "i",  "r", "s",
                                           "e",        "at", "rt", "b", "un", "er"};

struct ready { /* an ad, or the reason why it was refused */
    struct ad *ad;
    int rc;
    struct ad_place place;
    struct err err;
};

struct open_tag {
    uint8_t tag;
    bool filled; /* an attribute has its value; a list has an element */
};

#define OPEN_MAX (2 * AD_DEPTH_MAX + 8)

struct ad_xml_reader {
    struct xml_library xml;
    xmlParserCtxtPtr parser; /* NULL: broken says why */
    const struct ad_context *context;
    struct strbuf out;  /* text of the current outermost ad */
    struct strbuf text; /* text of the current element */
    struct open_tag open[OPEN_MAX];
    size_t open_count;
    unsigned ads_open;
    struct ready bad;    /* the first fault of the current ad */
    struct ready broken; /* a fault of the whole document; rc 0: none */
    struct vec ready;
    size_t taken;
};

static struct ad_place current_place(const struct ad_xml_reader *reader)
{
    int line = reader->xml.line_number(reader->parser);
    int column = reader->xml.column_number(reader->parser);
    return (struct ad_place){line > 0 ? (unsigned long)line : 1,
                             column > 0 ? (unsigned long)column : 1};
}

/* Stops the parser, because the rest of the document cannot be read. */
static void break_off(struct ad_xml_reader *reader, int rc, const char *why)
{
    if (reader->broken.rc == 0) {
        reader->broken.rc = err_set(&reader->broken.err, rc, "%s", why);
        reader->broken.place = current_place(reader);
    }
    reader->xml.stop_parser(reader->parser);
}

/* Notes a fault of the current ad; the document continues.  Returns the error to fill in; NULL: an
 * earlier fault is noted already. */
static struct err *blame_reader(struct ad_xml_reader *reader, int rc)
{
    if (reader->bad.rc != 0) {
        return NULL; /* the first one counts */
    }
    reader->bad.rc = rc;
    reader->bad.place = current_place(reader);
    return &reader->bad.err;
}

static enum tag tag_of(const xmlChar *name)
{
    for (int tag = 0; tag < TAG_NONE; tag++) {
        if (strcmp((const char *)name, TAGS[tag]) == 0) {
            return (enum tag)tag;
        }
    }
    return TAG_NONE;
}

static struct open_tag *top_tag(struct ad_xml_reader *reader)
{
    return reader->open_count > 0 ? &reader->open[reader->open_count - 1] : NULL;
}

static bool has_text(enum tag tag)
{
    return tag >= TAG_INTEGER && tag <= TAG_RELTIME;
}

/* ---- beginnings ---- */

/* Returns whether a value is allowed here: in an attribute without a value, or in a list. */
static bool place_value(struct ad_xml_reader *reader)
{
    struct open_tag *outer = top_tag(reader);
    if (outer == NULL || (outer->tag != TAG_ATTRIBUTE && outer->tag != TAG_LIST) ||
        (outer->tag == TAG_ATTRIBUTE && outer->filled)) {
        return false;
    }
    if (outer->tag == TAG_LIST && outer->filled) {
        strbuf_putc(&reader->out, ',');
    }
    outer->filled = true;
    return true;
}

static void put_quoted(const char *text, size_t length, char quote, struct strbuf *out)
{
    strbuf_putc(out, quote);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && i + 1 < length) {
            strbuf_putc(out, '\\'); /* an escape of new syntax */
            strbuf_putc(out, text[++i]);
            continue;
        }
        if (text[i] == quote || text[i] == '\\') {
            strbuf_putc(out, '\\');
        }
        strbuf_putc(out, text[i]);
    }
    strbuf_putc(out, quote);
}

static const char *attribute_value(const xmlChar **attributes, int count, const char *name,
                                   size_t *length)
{
    for (int i = 0; i < count; i++) { /* five pointers each: name, prefix, URI, value, end */
        const xmlChar **one = attributes + (ptrdiff_t)5 * i;
        if (strcmp((const char *)one[0], name) == 0) {
            *length = (size_t)(one[4] - one[3]);
            return (const char *)one[3];
        }
    }
    return NULL;
}

/* Appends the name of an attribute. libxml2 passes an ampersand in the name as the reference
 * `&#38;`, and no other ampersand. */
static void put_name(struct ad_xml_reader *reader, const char *name, size_t length)
{
    static const char AMPERSAND[] = "&#38;";
    struct strbuf *text = &reader->text; /* an attribute has no text of its own */
    strbuf_clear(text);
    for (size_t i = 0; i < length; i++) {
        strbuf_putc(text, name[i]);
        if (length - i >= sizeof AMPERSAND - 1 &&
            memcmp(name + i, AMPERSAND, sizeof AMPERSAND - 1) == 0) {
            i += sizeof AMPERSAND - 2;
        }
    }
    put_quoted(strbuf_text(text), text->length, '\'', &reader->out);
    strbuf_clear(text);
}

static const char *begin_tag(struct ad_xml_reader *reader, enum tag tag, const xmlChar **attributes,
                             int count)
{
    struct open_tag *outer = top_tag(reader);
    size_t length = 0;
    const char *value;
    switch (tag) {
    case TAG_CLASSADS:
        return outer == NULL ? NULL : "<classads> is inside of another element";
    case TAG_ATTRIBUTE:
        value = attribute_value(attributes, count, "n", &length);
        if (outer == NULL || outer->tag != TAG_AD) {
            return "<a> is outside of <c>";
        }
        if (value == NULL || length == 0 || length > AD_NAME_MAX * (size_t)4) { /* with escapes */
            return "<a> needs n=\"NAME\"";
        }
        put_name(reader, value, length);
        strbuf_puts(&reader->out, " = ");
        return NULL;
    case TAG_AD:
        if (reader->ads_open == 0) {
            if (outer != NULL && outer->tag != TAG_CLASSADS) {
                return "<c> is outside of <classads>";
            }
            strbuf_clear(&reader->out);
            reader->bad.rc = 0;
        } else if (!place_value(reader)) {
            return "a value is outside of <a> and <l>, or <a> has two values";
        }
        reader->ads_open++;
        strbuf_puts(&reader->out, "[ ");
        return NULL;
    case TAG_NONE:
        return "unknown element";
    default:
        if (!place_value(reader)) {
            return "a value is outside of <a> and <l>, or <a> has two values";
        }
        break;
    }
    if (tag == TAG_LIST) {
        strbuf_puts(&reader->out, "{ ");
    } else if (tag == TAG_BOOLEAN) {
        value = attribute_value(attributes, count, "v", &length);
        bool is_true = value != NULL && length == 1 && (*value == 't' || *value == 'T');
        strbuf_puts(&reader->out, is_true ? "true" : "false");
    } else if (tag == TAG_UNDEFINED || tag == TAG_ERROR) {
        strbuf_puts(&reader->out, tag == TAG_ERROR ? "error" : "undefined");
    }
    return NULL;
}

static void start_element(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int namespaces_count, const xmlChar **namespaces, int attribute_count,
                          int defaulted_count, const xmlChar **attributes)
{
    struct ad_xml_reader *reader = arg;
    (void)prefix;
    (void)uri;
    (void)namespaces;
    (void)defaulted_count;
    if (attribute_count > TAG_ATTRIBUTES_MAX || namespaces_count > TAG_ATTRIBUTES_MAX) {
        break_off(reader, -E2BIG, "an element has too many attributes");
        return;
    }
    enum tag tag = tag_of(name);
    const char *why = begin_tag(reader, tag, attributes, attribute_count);
    if (why != NULL && (reader->ads_open == 0 || tag == TAG_CLASSADS)) {
        break_off(reader, -EINVAL, why);
        return;
    }
    if (why != NULL) {
        (void)err_set(blame_reader(reader, -EINVAL), -EINVAL, "<%.40s>: %s", (const char *)name,
                      why);
        tag = tag == TAG_AD ? TAG_NONE : tag; /* it was not opened */
    }
    if (reader->open_count == OPEN_MAX) {
        break_off(reader, -E2BIG, "nested too deeply");
        return;
    }
    reader->open[reader->open_count++] = (struct open_tag){.tag = (uint8_t)tag};
    strbuf_clear(&reader->text);
}

static void take_characters(void *arg, const xmlChar *bytes, int length)
{
    struct ad_xml_reader *reader = arg;
    struct open_tag *open = top_tag(reader);
    if (open != NULL && has_text((enum tag)open->tag)) {
        strbuf_append(&reader->text, bytes, (size_t)length);
    }
}

/* ---- ends ---- */

static bool is_number(const char *text, bool integer)
{
    text += *text == '-' || *text == '+';
    if (!integer && (strcmp(text, "INF") == 0 || strcmp(text, "NaN") == 0)) {
        return true;
    }
    size_t length = strlen(text);
    return length > 0 && text[0] >= '0' && text[0] <= '9' &&
           strspn(text, integer ? "0123456789" : "0123456789.eE+-") == length;
}

static void put_number(struct ad_xml_reader *reader, const char *text, bool integer)
{
    if (!is_number(text, integer)) {
        (void)err_set(blame_reader(reader, -EINVAL), -EINVAL, "'%.40s' is not a valid %s", text,
                      integer ? "integer" : "number");
        strbuf_puts(&reader->out, "error");
    } else if (strpbrk(text, "IN") != NULL) {
        strbuf_printf(&reader->out, "real(\"%s\")", text);
    } else {
        if (*text == '-' || *text == '+') {
            strbuf_puts(&reader->out, *text++ == '-' ? "-" : "");
        }
        while (text[0] == '0' && text[1] >= '0' && text[1] <= '9') {
            text++; /* not an octal number */
        }
        strbuf_puts(&reader->out, text);
        if (!integer && strpbrk(text, ".eE") == NULL) {
            strbuf_puts(&reader->out, ".0");
        }
    }
}

static void put_expression(struct ad_xml_reader *reader, const char *text)
{
    struct ad_expr *expr = NULL;
    struct err err;
    int rc = ad_expr_parse(text, strlen(text), AD_NEW, &expr, &err);
    ad_expr_destroy(expr);
    if (rc != 0) {
        (void)err_set(blame_reader(reader, rc), rc, "<e>: %s", err.text);
        text = "error";
    }
    strbuf_puts(&reader->out, text);
    strbuf_putc(&reader->out, '\n'); /* it may end in a comment */
}

static void put_time(struct ad_xml_reader *reader, const char *function)
{
    struct strbuf call;
    strbuf_init(&call, AD_STRING_MAX);
    strbuf_printf(&call, "%s(", function);
    put_quoted(strbuf_text(&reader->text), reader->text.length, '"', &call);
    strbuf_putc(&call, ')');
    put_expression(reader, strbuf_text(&call));
    strbuf_fini(&call);
}

static void finish_ad(struct ad_xml_reader *reader)
{
    struct ready *ready = mem_zalloc(sizeof(*ready));
    *ready = reader->bad;
    if (ready->rc == 0 && reader->out.failed) {
        ready->rc = err_set(&ready->err, -E2BIG, "the ad is too large");
        ready->place = current_place(reader);
    }
    if (ready->rc == 0) {
        ready->rc = ad_parse_in(strbuf_text(&reader->out), reader->out.length, reader->context,
                                &ready->ad, NULL, &ready->err);
        ready->place = current_place(reader);
    }
    vec_push(&reader->ready, ready);
    reader->bad.rc = 0;
    if (reader->ready.count - reader->taken > READY_MAX) {
        break_off(reader, -E2BIG, "too many ads at once");
    }
}

static void end_element(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct ad_xml_reader *reader = arg;
    (void)name;
    (void)prefix;
    (void)uri;
    if (reader->open_count == 0) {
        return; /* the parser was stopped */
    }
    struct open_tag ended = reader->open[--reader->open_count];
    const char *text = strbuf_text(&reader->text);
    switch ((enum tag)ended.tag) {
    case TAG_AD:
        strbuf_puts(&reader->out, " ]");
        if (--reader->ads_open == 0) {
            finish_ad(reader);
        }
        break;
    case TAG_ATTRIBUTE:
        if (!ended.filled) {
            (void)err_set(blame_reader(reader, -EINVAL), -EINVAL, "<a> has no value");
        }
        strbuf_puts(&reader->out, "; ");
        break;
    case TAG_LIST:
        strbuf_puts(&reader->out, " }");
        break;
    case TAG_INTEGER:
    case TAG_REAL:
        put_number(reader, text, ended.tag == TAG_INTEGER);
        break;
    case TAG_STRING:
        put_quoted(text, reader->text.length, '"', &reader->out);
        break;
    case TAG_EXPRESSION:
        put_expression(reader, text);
        break;
    case TAG_ABSTIME:
        put_time(reader, "absTime");
        break;
    case TAG_RELTIME:
        put_time(reader, "relTime");
        break;
    default:
        break;
    }
    strbuf_clear(&reader->text);
}

/* ---- what is not allowed ---- */

static void entity_declaration(void *arg, const xmlChar *name, int type, const xmlChar *public_id,
                               const xmlChar *system_id, xmlChar *content)
{
    (void)name;
    (void)type;
    (void)public_id;
    (void)system_id;
    (void)content;
    break_off(arg, -EINVAL, "entity declarations are not allowed");
}

static xmlEntityPtr predefined_only(void *arg, const xmlChar *name)
{
    const struct ad_xml_reader *reader = arg;
    return reader->xml.predefined_entity(name);
}

static void take_reference(void *arg, const xmlChar *name)
{
    (void)name;
    break_off(arg, -EINVAL, "unknown entity");
}

static xmlParserInputPtr nothing_external(void *arg, const xmlChar *public_id,
                                          const xmlChar *system_id)
{
    (void)arg;
    (void)public_id;
    (void)system_id;
    return NULL;
}

static void take_complaint(void *arg, xmlErrorPtr error)
{
    struct ad_xml_reader *reader = arg;
    if (error->level < XML_ERR_ERROR || reader->broken.rc != 0) {
        return;
    }
    bool limit = error->code == XML_ERR_INTERNAL_ERROR || error->code == XML_ERR_NO_MEMORY ||
                 error->code == XML_ERR_NAME_TOO_LONG || error->code == XML_ERR_ENTITY_LOOP;
    const char *text = error->message != NULL ? error->message : "not valid XML";
    size_t length = strcspn(text, "\n");
    reader->broken.rc = err_set(&reader->broken.err, limit ? -E2BIG : -EINVAL, "%s%.*s",
                                limit ? "beyond a limit of libxml2: " : "",
                                (int)(length < 200 ? length : 200), text);
    reader->broken.place = (struct ad_place){error->line > 0 ? (unsigned long)error->line : 1,
                                             error->int2 > 0 ? (unsigned long)error->int2 : 1};
}

/* ---- the reader ---- */

struct ad_xml_reader *ad_xml_reader_create(const struct ad_context *context)
{
    struct ad_xml_reader *reader = mem_zalloc(sizeof(*reader));
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC,
                             .startElementNs = start_element,
                             .endElementNs = end_element,
                             .characters = take_characters,
                             .cdataBlock = take_characters,
                             .ignorableWhitespace = take_characters,
                             .entityDecl = entity_declaration,
                             .getEntity = predefined_only,
                             .reference = take_reference,
                             .resolveEntity = nothing_external,
                             .serror = take_complaint};
    reader->context = context;
    strbuf_init(&reader->out, AD_TEXT_MAX);
    strbuf_init(&reader->text, AD_TEXT_MAX);
    struct ready *broken = &reader->broken;
    broken->place = (struct ad_place){1, 1};
    broken->rc = xml_library_open(ROOST_SONAME_LIBXML_2_0, &reader->xml, &broken->err);
    if (broken->rc == 0) {
        reader->parser = reader->xml.create_parser(&handler, reader, NULL, 0, NULL);
        broken->rc =
            reader->parser != NULL ? 0 : err_set(&broken->err, -E2BIG, "%s", "out of memory");
    }
    if (reader->parser != NULL) { /* what it knows not is told by bits */
        (void)reader->xml.use_options(reader->parser, XML_PARSE_NONET);
    }
    return reader;
}

static void destroy_ready(void *arg)
{
    struct ready *ready = arg;
    ad_destroy(ready->ad);
    mem_free(ready);
}

void ad_xml_reader_destroy(struct ad_xml_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->parser != NULL) {
        reader->xml.free_document(reader->parser->myDoc);
        reader->xml.free_parser(reader->parser);
    }
    xml_library_close(&reader->xml);
    for (size_t i = reader->taken; i < reader->ready.count; i++) {
        destroy_ready(reader->ready.items[i]);
    }
    vec_fini(&reader->ready, NULL);
    strbuf_fini(&reader->out);
    strbuf_fini(&reader->text);
    mem_free(reader);
}

/* Limits what libxml2 buffers until it is complete: a tag, declarations or a reference.  Comments
 * and CDATA sections cost nothing, and may be longer. */
static void bound_markup(struct ad_xml_reader *reader)
{
    const xmlParserInput *input = reader->parser->input;
    if (reader->broken.rc != 0 || input == NULL || input->cur == NULL ||
        reader->parser->instate == XML_PARSER_CDATA_SECTION ||
        input->end - input->cur <= MARKUP_BYTES_MAX) {
        return;
    }
    const char *at = (const char *)input->cur;
    if (memcmp(at, "<!--", 4) != 0 && memcmp(at, "<?", 2) != 0) {
        break_off(reader, -E2BIG, "a tag is too long");
    }
}

int ad_xml_reader_feed(struct ad_xml_reader *reader, const char *bytes, size_t length,
                       struct ad_place *place, struct err *err)
{
    bool last = length == 0;
    do {
        size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;
        if (reader->broken.rc == 0) {
            (void)reader->xml.parse_chunk(reader->parser, bytes, (int)piece, last);
            bound_markup(reader); /* take_complaint() has noted a fault */
        }
        bytes += piece;
        length -= piece;
    } while (length > 0 && reader->broken.rc == 0);
    if (reader->broken.rc == 0) {
        return 0;
    }
    if (place != NULL) {
        *place = reader->broken.place;
    }
    return err_set(err, reader->broken.rc, "%s", reader->broken.err.text);
}

int ad_xml_reader_next(struct ad_xml_reader *reader, struct ad **ret, struct ad_place *place,
                       struct err *err)
{
    if (reader->taken == reader->ready.count) {
        vec_fini(&reader->ready, NULL);
        reader->ready = (struct vec){0};
        reader->taken = 0;
        return 0;
    }
    struct ready *ready = reader->ready.items[reader->taken++];
    int rc = ready->rc;
    if (rc == 0) {
        *ret = ready->ad;
        ready->ad = NULL;
    } else {
        (void)err_set(err, rc, "%s", ready->err.text);
        if (place != NULL) {
            *place = ready->place;
        }
    }
    destroy_ready(ready);
    return rc == 0 ? 1 : rc;
}
