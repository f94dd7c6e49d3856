/* site/site.h - the program roost-site: does what the factory asks of one site.
 *
 * docs/protocol/site.md is the contract.  One request is read, done and answered before the next
 * one is read; a type may block, up to the deadline of the request.  What a type knows of its site
 * it asks the site for: nothing is stored here, because this process may be killed at any moment.
 *
 * A type of site is a table of operations.  Its functions get a request that site_request_parse()
 * has checked, and add members to an answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_H
#define SITE_SITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "site/site_request.h"

struct err;
struct loop;
struct os;
struct site;

/* How an operation ended; for all but SITE_DONE err says why, in one sentence for the operator. */
enum site_result { SITE_DONE, SITE_REFUSES, SITE_FAILS, SITE_WRONG };

struct site_type {
    const char *name;
    const char *const *options; /* names of the options that it knows, ended by NULL */
    /* Checks the options, and sets site->own.  Called once, before all others. */
    enum site_result (*begin)(struct site *site, json_t *answer, struct err *err);
    enum site_result (*submit)(struct site *site, const struct site_request *request,
                               json_t *answer, struct err *err);
    enum site_result (*look)(struct site *site, json_t *answer, struct err *err);
    enum site_result (*remove)(struct site *site, const struct site_request *request,
                               json_t *answer, struct err *err);
    /* Sets *text, which the caller frees with mem_free(); any bytes. */
    enum site_result (*log)(struct site *site, const char *name, char **text, struct err *err);
    void (*end)(struct site *site); /* frees site->own */
};

struct site {
    struct loop *loop;
    struct os *os;
    const struct site_type *type;
    struct site_request begun; /* the request `begin`, with the options; id 0: none yet */
    char *prefix;              /* what the names of all glideins of this site begin with */
    uint64_t end_ms;           /* deadline of the request under way, by loop_now_ms() */
    void *own;                 /* the type's */
};

/* Answers requests until standard input ends.  Returns the exit status. */
int site_run(struct loop *loop, struct os *os, const struct site_type *type);

#endif
