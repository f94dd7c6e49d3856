/* site/site_request.h - what a line from the factory asks for: see docs/protocol/site.md.
 *
 * Pure: a line becomes a request, or a reason why it is refused.  Names are checked here, once, so
 * that no type has to quote them where they become words of a shell or names of files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_REQUEST_H
#define SITE_SITE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define SITE_LINE_MAX       ((size_t)8 << 20) /* bytes of a line, without its newline */
#define SITE_BATCH_MAX      100               /* bytes of the name of a batch */
#define SITE_NAME_MAX       (SITE_BATCH_MAX + 8)
#define SITE_COUNT_MAX      100000   /* glideins in one submission, names in one request */
#define SITE_OPTIONS_MAX    100      /* options of a site */
#define SITE_ARGUMENTS_MAX  100      /* words for the pilot */
#define SITE_DEADLINE_MAX_S 86400    /* of a request */
#define SITE_LIFETIME_MAX_S 31622400 /* of a glidein */
#define SITE_MEMORY_MAX_MIB ((int64_t)1 << 30)
#define SITE_CPUS_MAX       65536

enum site_operation { SITE_BEGIN, SITE_SUBMIT, SITE_LOOK, SITE_REMOVE, SITE_LOG };

struct site_option {
    const char *name, *value;
};

/* Texts and lists belong to the request.  What the operation does not have is 0 or NULL. */
struct site_request {
    void *whole; /* what the texts are parts of */
    int64_t id;  /* 0 if the line does not say it */
    int64_t deadline_s;
    enum site_operation operation;
    const char *site, *factory;  /* begin */
    struct site_option *options; /* begin */
    size_t option_count;
    const char *batch, *pilot, *secret; /* submit */
    const char **tickets;               /* submit: `count` of them; NULL: there are none */
    const char **arguments;             /* submit */
    size_t argument_count;
    int64_t count, cpus, memory_mib, lifetime_s; /* submit */
    const char **names;                          /* remove; log has one */
    size_t name_count;
};

/* Reads a line.  Returns 0; or -EPROTO, and err says what is wrong: then of the request only `id`
 * is of use.  site_request_fini() in each case. */
int site_request_parse(const char *line, size_t length, struct site_request *ret, struct err *err);
void site_request_fini(struct site_request *request);

/* Returns the ticket of the glidein with that name, BATCH.N; "": it has none. */
const char *site_request_ticket(const struct site_request *request, const char *name);

/* Returns whether text[0..length) can be the name of a batch (with_number false) or of a glidein of
 * a batch: "BATCH.N". */
bool site_request_is_name(const char *text, size_t length, bool with_number);

#endif
