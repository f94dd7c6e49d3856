/* site/site.c - see site.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "site/site_common.h"

#define MS_PER_S 1000
/* What an answer needs on its way to the factory, of the time of a request. */
#define ANSWER_MS 300
#define LOG_MAX   ((size_t)64 << 10) /* bytes of a glidein's log; each can become six */

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns 0, or -EINVAL with err: an option that the type does not know. */
static int check_options(const struct site *site, struct err *err)
{
    for (size_t i = 0; i < site->begun.option_count; i++) {
        const char *name = site->begun.options[i].name, *nearest = NULL;
        size_t distance = text_near_enough(name) + 1;
        bool known = false;
        for (const char *const *option = site->type->options; *option != NULL; option++) {
            known = known || text_equal_nocase(*option, name);
            text_take_nearer(*option, name, &nearest, &distance);
        }
        if (!known && nearest != NULL) {
            return err_set(err, -EINVAL,
                           "unknown option '%s' of a site of type %s; did you mean '%s'?", name,
                           site->type->name, nearest);
        }
        if (!known) {
            return err_set(err, -EINVAL, "unknown option '%s' of a site of type %s", name,
                           site->type->name);
        }
    }
    return 0;
}

/* Takes the request over: what it holds is needed as long as this process lives. */
static enum site_result do_begin(struct site *site, struct site_request *request, json_t *answer,
                                 struct err *err)
{
    struct strbuf prefix;
    if (site->begun.id != 0) {
        (void)err_set(err, -EPROTO, "'begin' was asked twice");
        return SITE_WRONG;
    }
    site->begun = *request;
    *request = (struct site_request){.id = site->begun.id};
    strbuf_init(&prefix, 0);
    strbuf_printf(&prefix, "%s-%s-", site->begun.factory, site->begun.site);
    site->prefix = strbuf_take(&prefix);
    enum site_result result =
        check_options(site, err) == 0 ? site->type->begin(site, answer, err) : SITE_WRONG;
    if (result != SITE_DONE) { /* it may be asked again */
        site->type->end(site);
        site_request_fini(&site->begun);
        mem_free(site->prefix);
        site->prefix = NULL;
    }
    return result;
}

static enum site_result do_submit(struct site *site, const struct site_request *request,
                                  json_t *answer, struct err *err)
{
    if (strncmp(request->batch, site->prefix, strlen(site->prefix)) != 0) {
        (void)err_set(err, -EPROTO, "batch '%s': its name does not begin with '%s'", request->batch,
                      site->prefix);
        return SITE_WRONG;
    }
    return site->type->submit(site, request, answer, err);
}

static enum site_result do_log(struct site *site, const char *name, json_t *answer, struct err *err)
{
    char *text = NULL;
    enum site_result result = site->type->log(site, name, &text, err);
    if (result == SITE_DONE) {
        size_t length = strlen(text), skipped = length > LOG_MAX ? length - LOG_MAX : 0;
        site_set_text(answer, "text", text + skipped, length - skipped);
    }
    mem_free(text);
    return result;
}

static enum site_result do_request(struct site *site, struct site_request *request, json_t *answer,
                                   struct err *err)
{
    if (request->operation == SITE_BEGIN) {
        return do_begin(site, request, answer, err);
    }
    if (site->begun.id == 0) {
        (void)err_set(err, -EPROTO, "the first request must be 'begin'");
        return SITE_WRONG;
    }
    for (size_t i = 0; i < request->name_count; i++) {
        if (!site_is_ours(site, request->names[i])) {
            (void)err_set(err, -EPROTO, "'%s' is not a glidein of this site", request->names[i]);
            return SITE_WRONG;
        }
    }
    switch (request->operation) {
    case SITE_SUBMIT:
        return do_submit(site, request, answer, err);
    case SITE_LOOK:
        return site->type->look(site, answer, err);
    case SITE_REMOVE:
        return site->type->remove(site, request, answer, err);
    case SITE_BEGIN:
    case SITE_LOG:
        break;
    }
    return do_log(site, request->names[0], answer, err);
}

static int append_text(const char *data, size_t length, void *out)
{
    strbuf_append(out, data, length);
    return 0;
}

/* Returns false if nobody reads answers any more. */
static bool write_answer(int64_t id, enum site_result result, json_t *answer, const struct err *err)
{
    static const char *const WORDS[] = {
        [SITE_REFUSES] = "refuses", [SITE_FAILS] = "fails", [SITE_WRONG] = "wrong"};
    struct strbuf line;
    strbuf_init(&line, SITE_LINE_MAX);
    if (result != SITE_DONE) {
        json_object_clear(answer);
        CHECK(json_object_set_new(answer, "error", json_string(WORDS[result])) == 0);
        site_set_text(answer, "text", err->text, strlen(err->text));
    }
    CHECK(json_object_set_new(answer, "id", json_integer(id)) == 0);
    CHECK(json_dump_callback(answer, append_text, &line, JSON_COMPACT) == 0);
    if (line.failed) {
        strbuf_clear(&line);
        strbuf_printf(&line,
                      "{\"id\":%lld,\"error\":\"fails\",\"text\":\"the answer is longer than a "
                      "line may be\"}",
                      (long long)id);
    }
    bool good = fwrite(strbuf_text(&line), 1, line.length, stdout) == line.length &&
                fputc('\n', stdout) != EOF && fflush(stdout) == 0;
    strbuf_fini(&line);
    return good;
}

static bool answer_line(struct site *site, const char *line, size_t length)
{
    struct site_request request;
    struct err err = {""};
    json_t *answer = json_object();
    enum site_result result = SITE_WRONG;
    if (site_request_parse(line, length, &request, &err) == 0) {
        uint64_t whole_ms = (uint64_t)request.deadline_s * MS_PER_S;
        site->end_ms = loop_now_ms(site->loop) + whole_ms - ANSWER_MS;
        result = do_request(site, &request, answer, &err);
    }
    bool good = write_answer(request.id, result, answer, &err);
    json_decref(answer);
    site_request_fini(&request);
    return good;
}

/* Reads a line, without its newline; of one that is too long only the first part, which is no JSON.
 * Returns false at the end of the input. */
static bool read_line(struct strbuf *line)
{
    int byte;
    strbuf_clear(line);
    while ((byte = fgetc(stdin)) != EOF && byte != '\n') {
        if (line->length <= SITE_LINE_MAX) {
            strbuf_putc(line, (char)byte);
        }
    }
    return byte != EOF;
}

int site_run(struct loop *loop, struct os *os, const struct site_type *type)
{
    struct site site = {.loop = loop, .os = os, .type = type};
    struct strbuf line;
    bool good = true;
    strbuf_init(&line, SITE_LINE_MAX + 2);
    while (good && read_line(&line)) {
        good = answer_line(&site, strbuf_text(&line), line.length);
        secret_wipe(line.data, line.length);
    }
    strbuf_fini(&line);
    if (site.begun.id != 0) {
        type->end(&site);
    }
    site_request_fini(&site.begun);
    mem_free(site.prefix);
    return good ? 0 : 1;
}
