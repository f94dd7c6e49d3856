/* power/redfish_answer.h - parses the answer of a Redfish service: HTTP headers and JSON, not
 * trusted.
 *
 * The bytes are an HTTP/1.1 answer as `curl --include` prints it.  A management controller is a
 * computer of its own, often with old software.  So everything it says is bounded; a path in its
 * answer is used only for requests to the same controller, and only if it has no character with a
 * special meaning to curl or its configuration.
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

#define REDFISH_PATH_MAX   512 /* bytes of a path, with the zero */
#define REDFISH_TOKEN_MAX  512 /* bytes of a token, with the zero */
#define REDFISH_ETAG_MAX   256
#define REDFISH_TYPE_MAX   24
#define REDFISH_NESTED_MAX 16 /* nesting levels of JSON */
#define REDFISH_RETRY_S    30 /* a longer Retry-After is cut to this */

/* Parses an answer; *ret is the caller's.  A body that is not JSON counts as no body.  Returns 0,
 * or -EPROTO when data is not a complete answer. */
int redfish_answer_parse(const char *data, size_t length, struct redfish_answer **ret,
                         struct err *err);
void redfish_answer_destroy(struct redfish_answer *answer); /* NULL is allowed; wipes the bytes */

int redfish_answer_status(const struct redfish_answer *answer); /* HTTP status, 100 to 599 */
/* Returns Retry-After in seconds, 1 to REDFISH_RETRY_S; fallback when there is none. */
int64_t redfish_answer_retry_s(const struct redfish_answer *answer, int64_t fallback);
/* Copies X-Auth-Token.  Returns 0, or -EPROTO when it is missing or has characters that a header
 * must not have. */
int redfish_answer_token(const struct redfish_answer *answer, char ret[REDFISH_TOKEN_MAX]);
/* Copies the ETag; "" when there is none that can be sent back. */
void redfish_answer_etag(const struct redfish_answer *answer, char ret[REDFISH_ETAG_MAX]);
/* Copies the path of what the request created: Location, else @odata.id of the body.  Returns 0, or
 * -EPROTO when neither is there. */
int redfish_answer_location(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX]);
/* Copies the path of the only member of a collection.  Returns 0, or -EINVAL when there is not
 * exactly one; err says how many. */
int redfish_answer_member(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX],
                          struct err *err);
/* Copies the error message of the answer as one line without control characters; "" when there is
 * none. */
void redfish_answer_complaint(const struct redfish_answer *answer, char *ret, size_t size);

/* State of a task, which the service carries out after its answer 202. */
enum redfish_task { REDFISH_TASK_RUNS, REDFISH_TASK_DONE, REDFISH_TASK_FAILED };
enum redfish_task redfish_answer_task(const struct redfish_answer *answer);

/* How a system can be switched. */
struct redfish_reset {
    char target[REDFISH_PATH_MAX]; /* path to send orders to; "": there is none */
    char info[REDFISH_PATH_MAX];   /* path of the ActionInfo with the allowed types; "": none */
    unsigned types; /* allowed types: enum redfish_type, as bits; valid only if told */
    bool told;      /* the service has said which types are allowed */
};
/* The ResetTypes that are used. */
enum redfish_type {
    REDFISH_ON = 1,
    REDFISH_FORCE_ON = 2,
    REDFISH_GRACEFUL_SHUTDOWN = 4,
    REDFISH_FORCE_OFF = 8,
};
/* Returns the PowerState of a system and fills *ret.  POWER_UNKNOWN for anything but "On" and
 * "Off", also for a system that is about to change. */
enum power_state redfish_answer_system(const struct redfish_answer *answer,
                                       struct redfish_reset *ret);
/* Adds the types of an ActionInfo to reset. */
void redfish_answer_info(const struct redfish_answer *answer, struct redfish_reset *reset);
/* Returns the ResetType that does this act; NULL: the system does not allow any.  If the allowed
 * types are not told, returns the one that the standard names first. */
const char *redfish_reset_type(const struct redfish_reset *reset, enum bmc_act act);

/* Copies the path of text, a URL or a path, if it is safe to use.  Returns 0 or -EINVAL. */
int redfish_path(const char *text, char ret[REDFISH_PATH_MAX]);
/* Writes the JSON body that opens a session.  Returns 0, or -EINVAL when a text is not UTF-8 or the
 * body does not fit. */
int redfish_login_body(const char *user, const char *password, char *ret, size_t size);

#endif
