/* factory/site_words.h - the lines between the factory and the child of a site
 * (docs/protocol/site.md): prints requests, parses answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SITE_WORDS_H
#define FACTORY_SITE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct err;
struct strbuf;

#define SITE_LINE_MAX ((size_t)8 << 20) /* most bytes of a line, without its end */

enum site_operation { SITE_BEGIN, SITE_SUBMIT, SITE_LOOK, SITE_REMOVE, SITE_LOG };

struct site_request {
    enum site_operation operation;
    int64_t id;
    int64_t deadline_s;
    /* begin */
    const char *site, *factory;
    const char *const *options; /* "NAME=VALUE" */
    size_t option_count;
    /* submit */
    const char *batch, *pilot, *secret;
    const char *const *tickets; /* `count` of them, or NULL */
    const char *const *arguments;
    size_t argument_count;
    int64_t count, cpus, memory_mib, lifetime_s;
    /* remove, log */
    const char *const *names;
    size_t name_count;
};

/* Appends the request as a line, with its end. */
void site_words_print(const struct site_request *request, struct strbuf *out);

/* What a site said of a request. */
enum site_outcome { SITE_DONE, SITE_REFUSES, SITE_FAILS, SITE_WRONG };

/* A glidein as its site lists it. */
enum site_listed { SITE_LISTS_QUEUED, SITE_LISTS_HELD, SITE_LISTS_RUNNING, SITE_LISTS_ENDED };
struct site_glidein {
    char *name, *id, *reason; /* id, reason: "" if not given */
    enum site_listed state;
};

struct site_answer {
    int64_t id;
    enum site_outcome outcome;
    /* why not, without control characters; "": none; of a log: what it says, as it is */
    char *text;
    int64_t settle_s;    /* begin */
    int64_t taken;       /* submit */
    struct vec glideins; /* look: of struct site_glidein */
    bool complete;       /* look */
};

/* Parses a line without its end.  Returns 0, and the caller calls site_answer_fini(); or -EINVAL
 * with err. */
int site_words_parse(const char *line, size_t length, struct site_answer *ret, struct err *err);
void site_answer_fini(struct site_answer *answer);

#endif
