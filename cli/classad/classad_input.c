/* cli/classad/classad_input.c - see classad_input.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/classad/classad_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "classad_formats/ad_xml_read.h"

#define BLOCK_BYTES 65536

struct classad_input {
    const char *path;
    FILE *file;
    const struct ad_context *context;
    enum classad_form form;
    struct ad_stream *stream; /* reader of all forms but XML */
    struct ad_xml_reader *xml;
    bool ended;
    bool broken;
};

bool classad_form_of(const char *word, enum classad_form *ret)
{
    static const struct {
        const char *word;
        enum classad_form form;
    } FORMS[] = {{"old", CLASSAD_LONG},
                 {"long", CLASSAD_LONG},
                 {"new", CLASSAD_NEW},
                 {"json", CLASSAD_JSON},
                 {"xml", CLASSAD_XML}};
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        if (strcmp(word, FORMS[i].word) == 0) {
            *ret = FORMS[i].form;
            return true;
        }
    }
    return false;
}

int classad_input_open(const char *path, enum classad_form form, const struct ad_context *context,
                       struct classad_input **ret, struct err *err)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rbe");
    if (file == NULL) {
        return err_set(err, -errno, "%s: %s", path, err_code_text(-errno));
    }
    struct classad_input *input = mem_zalloc(sizeof *input);
    input->path = standard ? "standard input" : path;
    input->file = file;
    input->form = form;
    input->context = context;
    *ret = input;
    return 0;
}

void classad_input_close(struct classad_input *input)
{
    if (input == NULL) {
        return;
    }
    if (input->file != stdin) {
        (void)fclose(input->file); /* was only read */
    }
    ad_stream_destroy(input->stream);
    ad_xml_reader_destroy(input->xml);
    mem_free(input);
}

enum classad_form classad_input_form(const struct classad_input *input)
{
    return input->form;
}

const char *classad_input_text(const struct classad_input *input, size_t *length,
                               struct ad_place *place)
{
    return ad_stream_text(input->stream, length, place);
}

static enum classad_form guess_form(const char *block, size_t length)
{
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", block[at]) != NULL) {
        at++;
    }
    if (at < length && block[at] == '<') {
        return CLASSAD_XML;
    }
    switch (ad_form_guess(block, length)) {
    case AD_FORM_JSON:
        return CLASSAD_JSON;
    case AD_FORM_NEW:
        return CLASSAD_NEW;
    default:
        return CLASSAD_LONG;
    }
}

static void begin_reading(struct classad_input *input, const char *block, size_t length)
{
    if (input->form == CLASSAD_GUESS) {
        input->form = guess_form(block, length);
    }
    if (input->form == CLASSAD_XML) {
        input->xml = ad_xml_reader_create(input->context);
    } else {
        input->stream = ad_stream_create(input->form == CLASSAD_JSON  ? AD_FORM_JSON
                                         : input->form == CLASSAD_NEW ? AD_FORM_NEW
                                                                      : AD_FORM_LONG,
                                         input->context, NULL);
    }
}

/* True when the block has two bytes that are not white space: these tell the form. */
static bool tells_form(const char *block, size_t length)
{
    size_t seen = 0;
    for (size_t i = 0; i < length; i++) {
        seen += strchr(" \t\r\n\v\f", block[i]) == NULL;
    }
    return seen >= 2;
}

/* Reads more bytes and gives them to the reader.  Returns 0, or -errno when the input or the
 * document is broken. */
static int feed_reader(struct classad_input *input, struct ad_place *place, struct err *err)
{
    char block[BLOCK_BYTES];
    size_t got = 0;
    bool begun = input->stream != NULL || input->xml != NULL;
    do { /* what has come, and at first as much as tells the form */
        ssize_t more = read(fileno(input->file), block + got, sizeof block - got);
        if (more < 0 && errno != EINTR) {
            input->broken = true;
            *place = (struct ad_place){1, 1};
            return err_set(err, -errno, "cannot read the input: %s", strerror(errno));
        }
        if (more == 0) {
            break;
        }
        got += more > 0 ? (size_t)more : 0;
    } while (got == 0 || (!begun && got < sizeof block && !tells_form(block, got)));
    if (input->stream == NULL && input->xml == NULL) {
        begin_reading(input, block, got);
    }
    input->ended = got == 0;
    if (input->xml != NULL) {
        int rc = ad_xml_reader_feed(input->xml, block, got, place, err);
        input->broken = rc < 0;
        return rc;
    }
    if (got == 0) {
        ad_stream_end(input->stream);
    } else {
        ad_stream_feed(input->stream, block, got);
    }
    return 0;
}

static int take_ad(struct classad_input *input, struct ad **ret, struct ad_place *place,
                   struct err *err)
{
    if (input->xml != NULL) {
        return ad_xml_reader_next(input->xml, ret, place, err);
    }
    return input->stream != NULL ? ad_stream_next(input->stream, ret, place, err) : 0;
}

int classad_input_next(struct classad_input *input, struct ad **ret, struct ad_place *place,
                       bool *refused, struct err *err)
{
    int rc;
    *refused = true;
    while ((rc = take_ad(input, ret, place, err)) == 0) {
        if (input->ended || input->broken) {
            return 0;
        }
        rc = feed_reader(input, place, err);
        if (rc < 0) {
            break; /* what came before it was taken already */
        }
    }
    if (rc < 0) {
        *refused = !input->broken;
        return err_prefix(err, rc, "%s:%lu:%lu", input->path, place->line, place->column);
    }
    return rc;
}

int classad_input_first(const char *path, const struct ad_context *context, struct ad **ret,
                        struct err *err)
{
    struct classad_input *input;
    struct ad_place place;
    bool refused;
    int rc = classad_input_open(path, CLASSAD_GUESS, context, &input, err);
    if (rc == 0) {
        rc = classad_input_next(input, ret, &place, &refused, err);
        if (rc == 0) {
            rc = err_set(err, -ENOENT, "%s: the file contains no ad", path);
        }
        classad_input_close(input);
    }
    return rc > 0 ? 0 : rc;
}
