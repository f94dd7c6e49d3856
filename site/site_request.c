/* site/site_request.c - see site_request.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_request.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define DIGITS_MAX 6 /* of the number of a glidein */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || text_is_digit(c) || c == '-' ||
           c == '_';
}

bool site_request_is_name(const char *text, size_t length, bool with_number)
{
    if (with_number) {
        size_t digits = 0;
        while (digits < length && text_is_digit(text[length - 1 - digits])) {
            digits++;
        }
        if (digits == 0 || digits > DIGITS_MAX || digits == length ||
            text[length - digits] == '0' || text[length - 1 - digits] != '.') {
            return false;
        }
        length -= digits + 1;
    }
    if (length == 0 || length > SITE_BATCH_MAX || text[0] == '-') {
        return false; /* never an option of a program */
    }
    for (size_t i = 0; i < length; i++) {
        if (!is_name_byte(text[i])) {
            return false;
        }
    }
    return true;
}

/* Returns the text, which has no control character; NULL with err: something else. */
static const char *plain_text(const json_t *value, const char *what, struct err *err)
{
    if (!json_is_string(value)) {
        (void)err_set(err, -EPROTO, "'%s' is missing, or not a text", what);
        return NULL;
    }
    const char *text = json_string_value(value);
    for (size_t i = 0; i < json_string_length(value); i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            (void)err_set(err, -EPROTO, "'%s' contains a control character", what);
            return NULL;
        }
    }
    return text;
}

static int get_text(const json_t *object, const char *key, const char **ret, struct err *err)
{
    *ret = plain_text(json_object_get(object, key), key, err);
    return *ret != NULL ? 0 : -EPROTO;
}

/* A secret has several lines: it becomes the content of a file, and nothing else. */
static int get_secret(const json_t *object, const char **ret, struct err *err)
{
    const char *text = json_string_value(json_object_get(object, "secret"));
    if (text == NULL) {
        return err_set(err, -EPROTO, "'secret' is missing, or not a text");
    }
    *ret = text;
    return 0;
}

static int get_number(const json_t *object, const char *key, int64_t min, int64_t max, int64_t *ret,
                      struct err *err)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < min ||
        json_integer_value(value) > max) {
        return err_set(err, -EPROTO, "'%s' is missing, or not a number from %lld to %lld", key,
                       (long long)min, (long long)max);
    }
    *ret = json_integer_value(value);
    return 0;
}

static int get_texts(const json_t *object, const char *key, size_t max, const char ***ret,
                     size_t *count, struct err *err)
{
    const json_t *list = json_object_get(object, key);
    if (!json_is_array(list) || json_array_size(list) > max) {
        return err_set(err, -EPROTO, "'%s' is missing, or not a list of at most %zu texts", key,
                       max);
    }
    *ret = mem_zalloc((json_array_size(list) + 1) * sizeof(**ret));
    for (*count = 0; *count < json_array_size(list); ++*count) {
        (*ret)[*count] = plain_text(json_array_get(list, *count), key, err);
        if ((*ret)[*count] == NULL) {
            return -EPROTO;
        }
    }
    return 0;
}

static int get_tickets(const json_t *object, struct site_request *ret, struct err *err)
{
    const json_t *list = json_object_get(object, "tickets");
    if (list == NULL) {
        return 0;
    }
    if (!json_is_array(list) || (int64_t)json_array_size(list) != ret->count) {
        return err_set(err, -EPROTO, "'tickets' is not a list of as many texts as 'count' says");
    }
    ret->tickets = mem_zalloc(json_array_size(list) * sizeof(*ret->tickets));
    for (size_t i = 0; i < json_array_size(list); i++) {
        ret->tickets[i] = json_string_value(json_array_get(list, i));
        if (ret->tickets[i] == NULL) {
            return err_set(err, -EPROTO, "'tickets' has an element that is not a text");
        }
    }
    return 0;
}

const char *site_request_ticket(const struct site_request *request, const char *name)
{
    const char *dot = strrchr(name, '.');
    int64_t number = dot != NULL ? strtoll(dot + 1, NULL, 10) : 0;
    return request->tickets != NULL && number >= 1 && number <= request->count
               ? request->tickets[number - 1]
               : "";
}

static int read_begin(json_t *object, struct site_request *ret, struct err *err)
{
    json_t *options = json_object_get(object, "options"), *value;
    const char *key;
    int rc = get_text(object, "site", &ret->site, err);
    rc = rc == 0 ? get_text(object, "factory", &ret->factory, err) : rc;
    if (rc != 0) {
        return rc;
    }
    if (!site_request_is_name(ret->site, strlen(ret->site), false) ||
        !site_request_is_name(ret->factory, strlen(ret->factory), false)) {
        return err_set(err, -EPROTO,
                       "'site' and 'factory' must be names of letters, digits, '-' and '_'");
    }
    if (!json_is_object(options) || json_object_size(options) > SITE_OPTIONS_MAX) {
        return err_set(err, -EPROTO, "'options' is missing, or not an object of at most %d texts",
                       SITE_OPTIONS_MAX);
    }
    ret->options = mem_zalloc((json_object_size(options) + 1) * sizeof(*ret->options));
    json_object_foreach(options, key, value)
    {
        struct site_option *option = &ret->options[ret->option_count++];
        option->name = key;
        option->value = plain_text(value, key, err);
        if (option->value == NULL) {
            return -EPROTO;
        }
    }
    return 0;
}

static int read_submit(const json_t *object, struct site_request *ret, struct err *err)
{
    int rc = get_text(object, "batch", &ret->batch, err);
    if (rc == 0 && !site_request_is_name(ret->batch, strlen(ret->batch), false)) {
        rc = err_set(err, -EPROTO, "'batch' must be at most %d letters, digits, '-' and '_'",
                     SITE_BATCH_MAX);
    }
    rc = rc == 0 ? get_number(object, "count", 1, SITE_COUNT_MAX, &ret->count, err) : rc;
    rc = rc == 0 ? get_text(object, "pilot", &ret->pilot, err) : rc;
    rc = rc == 0 ? get_secret(object, &ret->secret, err) : rc;
    rc = rc == 0 ? get_tickets(object, ret, err) : rc;
    rc = rc == 0 ? get_number(object, "cpus", 1, SITE_CPUS_MAX, &ret->cpus, err) : rc;
    rc = rc == 0 ? get_number(object, "memory", 1, SITE_MEMORY_MAX_MIB, &ret->memory_mib, err) : rc;
    rc = rc == 0 ? get_number(object, "lifetime", 1, SITE_LIFETIME_MAX_S, &ret->lifetime_s, err)
                 : rc;
    return rc == 0 ? get_texts(object, "arguments", SITE_ARGUMENTS_MAX, &ret->arguments,
                               &ret->argument_count, err)
                   : rc;
}

static int check_names(const struct site_request *request, struct err *err)
{
    for (size_t i = 0; i < request->name_count; i++) {
        if (!site_request_is_name(request->names[i], strlen(request->names[i]), true)) {
            return err_set(err, -EPROTO, "not the name of a glidein: '%s'", request->names[i]);
        }
    }
    return 0;
}

static int read_remove(const json_t *object, struct site_request *ret, struct err *err)
{
    int rc = get_texts(object, "names", SITE_COUNT_MAX, &ret->names, &ret->name_count, err);
    return rc == 0 ? check_names(ret, err) : rc;
}

static int read_log(const json_t *object, struct site_request *ret, struct err *err)
{
    ret->names = mem_zalloc(sizeof(*ret->names));
    ret->name_count = 1;
    int rc = get_text(object, "name", &ret->names[0], err);
    if (rc != 0) {
        ret->name_count = 0;
        return rc;
    }
    return check_names(ret, err);
}

static int read_operation(json_t *object, struct site_request *ret, struct err *err)
{
    const char *word;
    int rc = get_text(object, "do", &word, err);
    if (rc != 0) {
        return rc;
    }
    if (strcmp(word, "begin") == 0) {
        ret->operation = SITE_BEGIN;
        return read_begin(object, ret, err);
    }
    if (strcmp(word, "submit") == 0) {
        ret->operation = SITE_SUBMIT;
        return read_submit(object, ret, err);
    }
    if (strcmp(word, "look") == 0) {
        ret->operation = SITE_LOOK;
        return 0;
    }
    if (strcmp(word, "remove") == 0) {
        ret->operation = SITE_REMOVE;
        return read_remove(object, ret, err);
    }
    if (strcmp(word, "log") == 0) {
        ret->operation = SITE_LOG;
        return read_log(object, ret, err);
    }
    return err_set(err, -EPROTO, "unknown operation '%s'", word);
}

int site_request_parse(const char *line, size_t length, struct site_request *ret, struct err *err)
{
    json_error_t why;
    *ret = (struct site_request){.id = 0};
    json_t *object =
        length <= SITE_LINE_MAX ? json_loadb(line, length, JSON_REJECT_DUPLICATES, &why) : NULL;
    if (!json_is_object(object)) {
        json_decref(object);
        return err_set(err, -EPROTO, "the line is not a JSON object of at most %zu bytes",
                       SITE_LINE_MAX);
    }
    ret->whole = object;
    int rc = get_number(object, "id", 1, INT64_MAX, &ret->id, err);
    rc = rc == 0 ? get_number(object, "deadline", 1, SITE_DEADLINE_MAX_S, &ret->deadline_s, err)
                 : rc;
    return rc == 0 ? read_operation(object, ret, err) : rc;
}

void site_request_fini(struct site_request *request)
{
    json_decref(request->whole);
    mem_free(request->options);
    mem_free(request->arguments);
    mem_free(request->tickets);
    mem_free(request->names);
    *request = (struct site_request){.id = 0};
}
