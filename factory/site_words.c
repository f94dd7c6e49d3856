/* factory/site_words.c - see site_words.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/site_words.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define COUNT_MAX 1000000

static const char *const OPERATIONS[] = {
    [SITE_BEGIN] = "begin",   [SITE_SUBMIT] = "submit", [SITE_LOOK] = "look",
    [SITE_REMOVE] = "remove", [SITE_LOG] = "log",
};

/* Texts that are not UTF-8 cannot be sent; the configuration refuses them. */
static void set_text(json_t *object, const char *name, const char *text)
{
    json_object_set_new(object, name, json_string(text != NULL ? text : ""));
}

static json_t *list_of(const char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(texts[i]));
    }
    return list;
}

static json_t *options_of(const struct site_request *request)
{
    json_t *options = json_object();
    for (size_t i = 0; i < request->option_count; i++) {
        const char *equals = strchr(request->options[i], '=');
        if (equals != NULL) {
            char *name = mem_strndup(request->options[i], (size_t)(equals - request->options[i]));
            set_text(options, name, equals + 1);
            mem_free(name);
        }
    }
    return options;
}

static void set_submission(json_t *object, const struct site_request *request)
{
    set_text(object, "batch", request->batch);
    json_object_set_new(object, "count", json_integer(request->count));
    set_text(object, "pilot", request->pilot);
    json_object_set_new(object, "arguments", list_of(request->arguments, request->argument_count));
    set_text(object, "secret", request->secret);
    if (request->tickets != NULL) {
        json_object_set_new(object, "tickets", list_of(request->tickets, (size_t)request->count));
    }
    json_object_set_new(object, "cpus", json_integer(request->cpus));
    json_object_set_new(object, "memory", json_integer(request->memory_mib));
    json_object_set_new(object, "lifetime", json_integer(request->lifetime_s));
}

static int append_text(const char *text, size_t length, void *out)
{
    strbuf_append(out, text, length);
    return 0;
}

void site_words_print(const struct site_request *request, struct strbuf *out)
{
    json_t *object = json_object();
    json_object_set_new(object, "id", json_integer(request->id));
    set_text(object, "do", OPERATIONS[request->operation]);
    json_object_set_new(object, "deadline", json_integer(request->deadline_s));
    switch (request->operation) {
    case SITE_BEGIN:
        set_text(object, "site", request->site);
        set_text(object, "factory", request->factory);
        json_object_set_new(object, "options", options_of(request));
        break;
    case SITE_SUBMIT:
        set_submission(object, request);
        break;
    case SITE_REMOVE:
        json_object_set_new(object, "names", list_of(request->names, request->name_count));
        break;
    case SITE_LOG:
        set_text(object, "name", request->name_count > 0 ? request->names[0] : "");
        break;
    case SITE_LOOK:
        break;
    }
    CHECK(json_dump_callback(object, append_text, out, JSON_COMPACT) == 0);
    strbuf_putc(out, '\n');
    json_decref(object);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* Returns a copy of a member that is a text, "" if it is missing or another type.  It comes from
 * elsewhere and is shown on terminals: control characters become '?'. */
static char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    char *copy = mem_strdup(text != NULL ? text : "");
    for (char *at = copy; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' || *at == '\x7f' ? '?' : *at;
    }
    return copy;
}

static int read_number(const json_t *object, const char *name, int64_t *ret, struct err *err)
{
    const json_t *member = json_object_get(object, name);
    if (member == NULL) {
        return 0;
    }
    if (!json_is_integer(member) || json_integer_value(member) < 0) {
        return err_set(err, -EINVAL, "%s is not a number from 0 on", name);
    }
    *ret = json_integer_value(member);
    return 0;
}

static void free_glidein(void *item)
{
    struct site_glidein *glidein = item;
    mem_free(glidein->name);
    mem_free(glidein->id);
    mem_free(glidein->reason);
    mem_free(glidein);
}

static int read_glidein(const json_t *object, struct vec *ret, struct err *err)
{
    static const char *const STATES[] = {[SITE_LISTS_QUEUED] = "queued",
                                         [SITE_LISTS_HELD] = "held",
                                         [SITE_LISTS_RUNNING] = "running",
                                         [SITE_LISTS_ENDED] = "ended"};
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *state = json_string_value(json_object_get(object, "state"));
    if (name == NULL || state == NULL) {
        return err_set(err, -EINVAL, "a glidein without name or state");
    }
    for (size_t i = 0; i < ARRAY_COUNT(STATES); i++) {
        if (strcmp(STATES[i], state) == 0) {
            struct site_glidein *glidein = mem_zalloc(sizeof(*glidein));
            glidein->name = text_of(object, "name");
            glidein->id = text_of(object, "id");
            glidein->reason = text_of(object, "reason");
            glidein->state = (enum site_listed)i;
            vec_push(ret, glidein);
            return 0;
        }
    }
    return err_set(err, -EINVAL, "glidein %s: unknown state '%s'", name, state);
}

static int read_members(const json_t *object, struct site_answer *ret, struct err *err)
{
    static const struct {
        const char *word;
        enum site_outcome outcome;
    } ERRORS[] = {{"refuses", SITE_REFUSES}, {"fails", SITE_FAILS}, {"wrong", SITE_WRONG}};
    const char *word = json_string_value(json_object_get(object, "error"));
    ret->outcome = word != NULL ? SITE_FAILS : SITE_DONE;
    for (size_t i = 0; word != NULL && i < ARRAY_COUNT(ERRORS); i++) {
        ret->outcome = strcmp(ERRORS[i].word, word) == 0 ? ERRORS[i].outcome : ret->outcome;
    }
    ret->complete = json_is_true(json_object_get(object, "complete"));
    const json_t *list = json_object_get(object, "glideins");
    int rc = read_number(object, "settle", &ret->settle_s, err);
    rc = rc != 0 ? rc : read_number(object, "taken", &ret->taken, err);
    if (rc == 0 && json_array_size(list) > COUNT_MAX) {
        rc = err_set(err, -EINVAL, "more than %d glideins", COUNT_MAX);
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
        rc = read_glidein(json_array_get(list, i), &ret->glideins, err);
    }
    return rc;
}

int site_words_parse(const char *line, size_t length, struct site_answer *ret, struct err *err)
{
    json_error_t why;
    *ret = (struct site_answer){.id = -1};
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(object)) {
        int rc = object != NULL ? err_set(err, -EINVAL, "not an object")
                                : err_set(err, -EINVAL, "not JSON: %s", why.text);
        json_decref(object);
        return rc;
    }
    int rc = read_number(object, "id", &ret->id, err);
    rc = rc != 0 ? rc : read_members(object, ret, err);
    if (rc == 0) {
        const char *text = json_string_value(json_object_get(object, "text"));
        ret->text = ret->outcome != SITE_DONE ? text_of(object, "text")
                                              : mem_strdup(text != NULL ? text : "");
    }
    json_decref(object);
    if (rc != 0) {
        site_answer_fini(ret);
    }
    return rc;
}

void site_answer_fini(struct site_answer *answer)
{
    mem_free(answer->text);
    vec_fini(&answer->glideins, free_glidein);
    *answer = (struct site_answer){0};
}
