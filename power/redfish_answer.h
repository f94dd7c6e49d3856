/* power/redfish_answer.h - parses the answer of a Redfish service: HTTP headers and JSON, not
 * trusted.
 *
 * The bytes are an HTTP/1.1 answer as `curl --include` prints it.  A management controller is a
 * computer of its own, often with old software.  So the length of everything that it says is
 * limited.  A path in its answer is used only for requests to the same controller, and only if the
 * path has no character with a special meaning to curl or in curl's configuration files.
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

#define REDFISH_PATH_MAX   512 /* most bytes of a path, with the terminating zero */
#define REDFISH_TOKEN_MAX  512 /* most bytes of an X-Auth-Token, with the terminating zero */
#define REDFISH_ETAG_MAX   256
#define REDFISH_TYPE_MAX   24
#define REDFISH_NESTED_MAX 16 /* most nesting levels of JSON */
#define REDFISH_RETRY_S    30 /* longest Retry-After, seconds; a longer one is cut to this */

/* Parses an answer and sets *ret, which the caller must free.  A body that is not JSON counts as no
 * body.  Returns 0; -EPROTO: data is not a complete HTTP answer. */
int redfish_answer_parse(const char *data, size_t length, struct redfish_answer **ret,
                         struct err *err);
/* Overwrites the answer's bytes and frees them.  NULL: does nothing. */
void redfish_answer_destroy(struct redfish_answer *answer);

/* Returns the HTTP status, 100 to 599. */
int redfish_answer_status(const struct redfish_answer *answer);
/* Returns the header Retry-After in seconds, 1 to REDFISH_RETRY_S; fallback if there is no such
 * header. */
int64_t redfish_answer_retry_s(const struct redfish_answer *answer, int64_t fallback);
/* Copies the header X-Auth-Token to ret.  Returns 0; -EPROTO: the header is missing, or has
 * characters that a header must not have. */
int redfish_answer_token(const struct redfish_answer *answer, char ret[REDFISH_TOKEN_MAX]);
/* Copies the header ETag, else @odata.etag of the body, to ret; "" if both are missing, or if the
 * text is too long or has characters that a header of a request must not have. */
void redfish_answer_etag(const struct redfish_answer *answer, char ret[REDFISH_ETAG_MAX]);
/* Copies to ret the path of the resource that the request created: the header Location, else
 * @odata.id of the body.  Returns 0; -EPROTO: both are missing or unusable. */
int redfish_answer_location(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX]);
/* Copies to ret the path of the only member of a collection.  Returns 0; -EINVAL: there is not
 * exactly one member, and err says how many there are. */
int redfish_answer_member(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX],
                          struct err *err);
/* Copies the error message in the answer to ret, as one line without control characters; "" if the
 * answer has no message. */
void redfish_answer_complaint(const struct redfish_answer *answer, char *ret, size_t size);

/* State of a task, which the service carries out after its answer 202. */
enum redfish_task { REDFISH_TASK_RUNS, REDFISH_TASK_DONE, REDFISH_TASK_FAILED };
enum redfish_task redfish_answer_task(const struct redfish_answer *answer);

/* How a system (Redfish's word for a machine) can be switched on and off. */
struct redfish_reset {
    char target[REDFISH_PATH_MAX]; /* path to which orders are sent; "": the system cannot be
                                      switched */
    char info[REDFISH_PATH_MAX]; /* path of the ActionInfo that lists the allowed types; "": none */
    /* allowed ResetTypes, bits of enum redfish_type; valid only if `told` is true */
    unsigned types;
    bool told; /* the service has said which ResetTypes are allowed */
};
/* The ResetTypes, that is orders of the Redfish standard, that Roost uses. */
enum redfish_type {
    REDFISH_ON = 1,
    REDFISH_FORCE_ON = 2,
    REDFISH_GRACEFUL_SHUTDOWN = 4,
    REDFISH_FORCE_OFF = 8,
};
/* Returns the state that PowerState of a system says, and fills *ret with how the system can be
 * switched.  POWER_UNKNOWN for any PowerState but "On" and "Off", also while the system changes. */
enum power_state redfish_answer_system(const struct redfish_answer *answer,
                                       struct redfish_reset *ret);
/* Adds the ResetTypes that the answer, an ActionInfo, allows to reset->types. */
void redfish_answer_info(const struct redfish_answer *answer, struct redfish_reset *reset);
/* Returns the name of the ResetType by which the system carries out the order `act`; NULL: the
 * system allows no such type.  If the service did not say which types are allowed, returns the
 * type that is usual for this order. */
const char *redfish_reset_type(const struct redfish_reset *reset, enum bmc_act act);

/* Copies the path in text, which is a URL or a path, to ret.  Returns 0; -EINVAL: the path has
 * characters that are not safe to use, or is too long. */
int redfish_path(const char *text, char ret[REDFISH_PATH_MAX]);
/* Writes to ret the JSON body of the request that opens a session.  Returns 0; -EINVAL: user or
 * password is not UTF-8, or the body does not fit. */
int redfish_login_body(const char *user, const char *password, char *ret, size_t size);

#endif
