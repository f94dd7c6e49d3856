/* power/redfish_answer.h - what a Redfish service answered: headers and JSON of a stranger.
 *
 * The bytes are an HTTP/1.1 answer as `curl --include` prints it.  A management controller is a
 * computer of its own, and seldom a new one: what it says is bounded, and a path that it names is
 * used on itself only and has no character that curl or its configuration could take for something
 * else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_REDFISH_ANSWER_H
#define POWER_REDFISH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/bmc_plan.h"

struct err;
struct redfish_answer;

#define REDFISH_PATH_MAX   512 /* bytes, with the zero, of a path */
#define REDFISH_TOKEN_MAX  512 /* of a token */
#define REDFISH_ETAG_MAX   256
#define REDFISH_TYPE_MAX   24
#define REDFISH_NESTED_MAX 16 /* levels of its JSON */
#define REDFISH_RETRY_S    30 /* the longest Retry-After that is kept to */

/* -EPROTO: no whole answer.  A body that is not JSON is as none. */
int redfish_answer_parse(const char *data, size_t length, struct redfish_answer **ret,
                         struct err *err);
void redfish_answer_destroy(struct redfish_answer *answer); /* NULL is allowed; wipes its bytes */

int redfish_answer_status(const struct redfish_answer *answer); /* 100 to 599 */
/* Seconds, 1 to REDFISH_RETRY_S; fallback when it says none. */
int64_t redfish_answer_retry_s(const struct redfish_answer *answer, int64_t fallback);
/* X-Auth-Token; -EPROTO: none, or with characters that have no place in a header. */
int redfish_answer_token(const struct redfish_answer *answer, char ret[REDFISH_TOKEN_MAX]);
/* "" when there is none that may be sent back. */
void redfish_answer_etag(const struct redfish_answer *answer, char ret[REDFISH_ETAG_MAX]);
/* Where what was made is: Location, else @odata.id of the body.  -EPROTO: nowhere. */
int redfish_answer_location(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX]);
/* The one member of a collection.  -EINVAL: not exactly one (err says how many). */
int redfish_answer_member(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX],
                          struct err *err);
/* What it complains of, one line without control characters; "" if of nothing. */
void redfish_answer_complaint(const struct redfish_answer *answer, char *ret, size_t size);

enum redfish_task { REDFISH_TASK_RUNS, REDFISH_TASK_DONE, REDFISH_TASK_FAILED };
enum redfish_task redfish_answer_task(const struct redfish_answer *answer);

/* A system's way to be switched. */
struct redfish_reset {
    char target[REDFISH_PATH_MAX]; /* "": it has none */
    char info[REDFISH_PATH_MAX];   /* where its types are told; "": nowhere else */
    unsigned types;                /* of enum redfish_type, as bits; meaningless unless told */
    bool told;
};
enum redfish_type {
    REDFISH_ON = 1,
    REDFISH_FORCE_ON = 2,
    REDFISH_GRACEFUL_SHUTDOWN = 4,
    REDFISH_FORCE_OFF = 8,
};
/* POWER_UNKNOWN for all but "On" and "Off": a system that is about to change is neither. */
enum power_state redfish_answer_system(const struct redfish_answer *answer,
                                       struct redfish_reset *ret);
/* An ActionInfo: adds the types to reset. */
void redfish_answer_info(const struct redfish_answer *answer, struct redfish_reset *reset);
/* The ResetType that does that; NULL: the system has none.  Of one that tells none, what the
 * standard names first. */
const char *redfish_reset_type(const struct redfish_reset *reset, enum bmc_act act);

/* The path of a URL or a path, as it may be used.  -EINVAL. */
int redfish_path(const char *text, char ret[REDFISH_PATH_MAX]);
/* The body that asks for a session.  -EINVAL: not UTF-8, or longer than size. */
int redfish_login_body(const char *user, const char *password, char *ret, size_t size);

#endif
