/* power/redfish_answer.c - see redfish_answer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/redfish_answer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "power/bmc_text.h"

#define MEMBERS_MAX 10000

struct redfish_answer {
    char *text; /* headers, each line ended by a zero, and body */
    size_t length;
    size_t head_length;
    int status;
    json_t *body; /* an object, or NULL */
};

/* ---- HTTP */

/* Returns where the body begins: after the headers that start at text; NULL: no end of the
 * headers. */
static char *end_of_head(char *text)
{
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end == NULL) {
            return NULL;
        }
        if (end == line || (end == line + 1 && *line == '\r')) {
            return end + 1;
        }
        line = end + 1;
    }
    return NULL;
}

/* Returns the status of "HTTP/1.1 200 OK" or "HTTP/2 200"; 0 if text is not a status line. */
static int status_of(const char *text)
{
    if (strncmp(text, "HTTP/", 5) != 0) {
        return 0;
    }
    const char *at = text + 5 + strspn(text + 5, "0123456789.");
    if (*at != ' ' || !text_is_digit(at[1]) || !text_is_digit(at[2]) || !text_is_digit(at[3]) ||
        text_is_digit(at[4])) {
        return 0;
    }
    int status = (at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0');
    return status >= 100 && status < 600 ? status : 0;
}

/* Returns whether the JSON is not nested too deeply for our own walk; jansson itself stops at
 * 2048. */
static bool is_shallow(const char *text)
{
    int depth = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        if (quoted) {
            quoted = *text != '"';
            text += *text == '\\' && text[1] != '\0';
        } else if (*text == '"') {
            quoted = true;
        } else if (*text == '{' || *text == '[') {
            if (++depth > REDFISH_NESTED_MAX) {
                return false;
            }
        } else if (*text == '}' || *text == ']') {
            depth--;
        }
    }
    return true;
}

int redfish_answer_parse(const char *data, size_t length, struct redfish_answer **ret,
                         struct err *err)
{
    if (memchr(data, '\0', length) != NULL) {
        return err_set(err, -EPROTO, "the controller's answer contains a zero byte");
    }
    char *text = mem_strndup(data, length), *head = text, *body;
    int status;
    for (;;) { /* past "100 Continue" */
        status = status_of(head);
        body = status != 0 ? end_of_head(head) : NULL;
        if (body == NULL) {
            secret_wipe(text, length);
            mem_free(text);
            return err_set(err, -EPROTO, "the controller's answer is not an HTTP answer");
        }
        if (status >= 200) {
            break;
        }
        head = body;
    }
    struct redfish_answer *answer = mem_zalloc(sizeof *answer);
    answer->text = text;
    answer->length = length;
    answer->status = status;
    if (is_shallow(body)) {
        answer->body = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    }
    if (!json_is_object(answer->body)) {
        json_decref(answer->body);
        answer->body = NULL;
    }
    /* only the last block of headers stays */
    answer->head_length = (size_t)(body - head);
    memmove(text, head, answer->head_length);
    for (size_t i = 0; i < answer->head_length; i++) {
        text[i] = text[i] == '\n' || text[i] == '\r' ? '\0' : text[i];
    }
    *ret = answer;
    return 0;
}

void redfish_answer_destroy(struct redfish_answer *answer)
{
    if (answer == NULL) {
        return;
    }
    json_decref(answer->body);
    secret_wipe(answer->text, answer->length);
    mem_free(answer->text);
    mem_free(answer);
}

int redfish_answer_status(const struct redfish_answer *answer)
{
    return answer->status;
}

/* Returns a header's value without surrounding blanks; NULL: there is no such header. */
static const char *header_value(const struct redfish_answer *answer, const char *name)
{
    const char *end = answer->text + answer->head_length;
    size_t length = strlen(name);
    for (const char *line = answer->text; line < end; line += strlen(line) + 1) {
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            line += length + 1;
            return line + strspn(line, " \t");
        }
    }
    return NULL;
}

int64_t redfish_answer_retry_s(const struct redfish_answer *answer, int64_t fallback)
{
    const char *text = header_value(answer, "Retry-After");
    int64_t number;
    if (text == NULL || text_parse_int64(text, &number, NULL) != 0 || number < 1) {
        return fallback;
    }
    return number < REDFISH_RETRY_S ? number : REDFISH_RETRY_S;
}

/* Returns whether text can be sent in a header: printable ASCII; quotes only for an ETag. */
static bool is_sendable(const char *text, size_t max, bool quotes)
{
    size_t length = strlen(text);
    if (length == 0 || length >= max) {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~' || *text == '\\' || (*text == '"' && !quotes)) {
            return false;
        }
    }
    return true;
}

int redfish_answer_token(const struct redfish_answer *answer, char ret[REDFISH_TOKEN_MAX])
{
    const char *text = header_value(answer, "X-Auth-Token");
    if (text == NULL || !is_sendable(text, REDFISH_TOKEN_MAX, false)) {
        return -EPROTO;
    }
    memcpy(ret, text, strlen(text) + 1);
    return 0;
}

/* ---- JSON */

static const char *text_at(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

void redfish_answer_etag(const struct redfish_answer *answer, char ret[REDFISH_ETAG_MAX])
{
    const char *text = header_value(answer, "ETag");
    if (text == NULL) {
        text = text_at(answer->body, "@odata.etag");
    }
    ret[0] = '\0';
    if (is_sendable(text, REDFISH_ETAG_MAX, true)) {
        memcpy(ret, text, strlen(text) + 1);
    }
}

int redfish_path(const char *text, char ret[REDFISH_PATH_MAX])
{
    const char *authority = strncasecmp(text, "https://", 8) == 0  ? text + 8
                            : strncasecmp(text, "http://", 7) == 0 ? text + 7
                                                                   : NULL;
    if (authority != NULL) {
        text = authority + strcspn(authority, "/");
    }
    if (text[0] != '/' || text[1] == '/' || !is_sendable(text, REDFISH_PATH_MAX, false) ||
        strpbrk(text, "#<>[]{}|^`") != NULL || strstr(text, "/../") != NULL) {
        return -EINVAL;
    }
    memcpy(ret, text, strlen(text) + 1);
    return 0;
}

int redfish_answer_location(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX])
{
    const char *text = header_value(answer, "Location");
    if (text == NULL) {
        text = text_at(answer->body, "@odata.id");
    }
    return redfish_path(text, ret) == 0 ? 0 : -EPROTO;
}

int redfish_answer_member(const struct redfish_answer *answer, char ret[REDFISH_PATH_MAX],
                          struct err *err)
{
    const json_t *members = json_object_get(answer->body, "Members");
    size_t count = json_array_size(members);
    if (count != 1) {
        return err_set(err, -EINVAL,
                       "the controller has %zu systems; name the system with bmc_system",
                       count < MEMBERS_MAX ? count : MEMBERS_MAX);
    }
    if (redfish_path(text_at(json_array_get(members, 0), "@odata.id"), ret) != 0) {
        return err_set(err, -EINVAL, "the controller's answer has no valid path to its system");
    }
    return 0;
}

void redfish_answer_complaint(const struct redfish_answer *answer, char *ret, size_t size)
{
    const json_t *error = json_object_get(answer->body, "error");
    const json_t *infos = json_object_get(error, "@Message.ExtendedInfo");
    if (!json_is_array(infos)) { /* of a task */
        infos = json_object_get(answer->body, "Messages");
    }
    const char *text = text_at(json_array_get(infos, 0), "Message");
    text = text[0] != '\0' ? text : text_at(error, "message");
    (void)snprintf(ret, size, "%s", text);
    bmc_text_clean(ret);
}

enum redfish_task redfish_answer_task(const struct redfish_answer *answer)
{
    static const char *const RUNS[] = {"New",       "Pending",     "Running",
                                       "Service",   "Starting",    "Stopping",
                                       "Suspended", "Interrupted", "Cancelling"};
    static const char *const FAILED[] = {"Exception", "Killed", "Cancelled"};
    if (answer->status == 202) {
        return REDFISH_TASK_RUNS;
    }
    if (answer->status == 404 || answer->status == 410) {
        return REDFISH_TASK_DONE; /* over, and removed: what became of it is seen in the system */
    }
    if (answer->status < 200 || answer->status > 299) {
        return REDFISH_TASK_FAILED;
    }
    const char *state = text_at(answer->body, "TaskState");
    for (size_t i = 0; i < ARRAY_COUNT(RUNS); i++) {
        if (strcmp(state, RUNS[i]) == 0) {
            return REDFISH_TASK_RUNS;
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(FAILED); i++) {
        if (strcmp(state, FAILED[i]) == 0) {
            return REDFISH_TASK_FAILED;
        }
    }
    return REDFISH_TASK_DONE;
}

static const struct {
    const char *name;
    enum redfish_type type;
} TYPES[] = {{"On", REDFISH_ON},
             {"ForceOn", REDFISH_FORCE_ON},
             {"GracefulShutdown", REDFISH_GRACEFUL_SHUTDOWN},
             {"ForceOff", REDFISH_FORCE_OFF}};

static void add_types(const json_t *values, struct redfish_reset *reset)
{
    if (!json_is_array(values)) {
        return;
    }
    reset->told = true;
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *name = json_string_value(json_array_get(values, i));
        for (size_t j = 0; j < ARRAY_COUNT(TYPES) && name != NULL; j++) {
            reset->types |= strcmp(name, TYPES[j].name) == 0 ? (unsigned)TYPES[j].type : 0;
        }
    }
}

enum power_state redfish_answer_system(const struct redfish_answer *answer,
                                       struct redfish_reset *ret)
{
    const json_t *action =
        json_object_get(json_object_get(answer->body, "Actions"), "#ComputerSystem.Reset");
    const char *state = text_at(answer->body, "PowerState");
    *ret = (struct redfish_reset){.target = ""};
    (void)redfish_path(text_at(action, "target"), ret->target); /* else it has none */
    (void)redfish_path(text_at(action, "@Redfish.ActionInfo"), ret->info);
    add_types(json_object_get(action, "ResetType@Redfish.AllowableValues"), ret);
    return strcmp(state, "On") == 0    ? POWER_ON
           : strcmp(state, "Off") == 0 ? POWER_OFF
                                       : POWER_UNKNOWN;
}

void redfish_answer_info(const struct redfish_answer *answer, struct redfish_reset *reset)
{
    const json_t *parameters = json_object_get(answer->body, "Parameters");
    for (size_t i = 0; i < json_array_size(parameters); i++) {
        const json_t *parameter = json_array_get(parameters, i);
        if (strcmp(text_at(parameter, "Name"), "ResetType") == 0) {
            add_types(json_object_get(parameter, "AllowableValues"), reset);
        }
    }
}

const char *redfish_reset_type(const struct redfish_reset *reset, enum bmc_act act)
{
    unsigned types = reset->told ? reset->types : ~0u;
    switch (act) {
    case BMC_ORDER_ON:
        return (types & REDFISH_ON) != 0         ? "On"
               : (types & REDFISH_FORCE_ON) != 0 ? "ForceOn"
                                                 : NULL;
    case BMC_ORDER_SOFT:
        return (types & REDFISH_GRACEFUL_SHUTDOWN) != 0 ? "GracefulShutdown" : NULL;
    case BMC_ORDER_OFF:
        return (types & REDFISH_FORCE_OFF) != 0 ? "ForceOff" : NULL;
    case BMC_ASK:
    case BMC_ASK_LATER:
    case BMC_END:
        break;
    }
    return NULL;
}

int redfish_login_body(const char *user, const char *password, char *ret, size_t size)
{
    json_t *body = json_pack("{s:s, s:s}", "UserName", user, "Password", password);
    size_t length = body != NULL ? json_dumpb(body, ret, size, JSON_COMPACT) : 0;
    json_decref(body);
    if (length == 0 || length >= size) {
        secret_wipe(ret, size);
        return -EINVAL;
    }
    ret[length] = '\0';
    return 0;
}
