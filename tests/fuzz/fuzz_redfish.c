/* What a management controller answers: taken for what it is, or refused; a path or a token that is
 * taken from it can do no harm where it goes.
 *
 * LINK: power
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "power/redfish_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void harmless(const char *text, size_t max)
{
    CHECK(strlen(text) < max);
    for (; *text != '\0'; text++) {
        CHECK(*text > ' ' && *text <= '~' && *text != '\\');
    }
}

static void harmless_path(const char *path)
{
    char again[REDFISH_PATH_MAX];
    harmless(path, REDFISH_PATH_MAX);
    CHECK(path[0] == '/' && path[1] != '/' && strchr(path, '"') == NULL);
    CHECK(redfish_path(path, again) == 0 && strcmp(path, again) == 0);
}

static void reset_ways(const struct redfish_answer *answer)
{
    struct redfish_reset reset;
    enum power_state state = redfish_answer_system(answer, &reset);
    CHECK(state == POWER_ON || state == POWER_OFF || state == POWER_UNKNOWN);
    if (reset.target[0] != '\0') {
        harmless_path(reset.target);
    }
    if (reset.info[0] != '\0') {
        harmless_path(reset.info);
    }
    redfish_answer_info(answer, &reset);
    for (int act = BMC_ASK; act <= BMC_END; act++) {
        const char *type = redfish_reset_type(&reset, (enum bmc_act)act);
        CHECK(type == NULL || strstr(type, "Restart") == NULL);
        CHECK(type == NULL || strstr(type, "Cycle") == NULL);
        CHECK(type == NULL || strstr(type, "Button") == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redfish_answer *answer;
    struct err err = {""};
    char path[REDFISH_PATH_MAX], token[REDFISH_TOKEN_MAX], etag[REDFISH_ETAG_MAX], complaint[80];
    if (size > 65536) {
        return 0;
    }
    if (redfish_answer_parse((const char *)data, size, &answer, &err) != 0) {
        CHECK(err.text[0] != '\0');
        return 0;
    }
    int status = redfish_answer_status(answer);
    CHECK(status >= 200 && status < 600);
    int64_t retry_s = redfish_answer_retry_s(answer, 7);
    CHECK(retry_s >= 1 && retry_s <= REDFISH_RETRY_S);
    if (redfish_answer_token(answer, token) == 0) {
        harmless(token, sizeof token);
        CHECK(strchr(token, '"') == NULL);
    }
    redfish_answer_etag(answer, etag);
    harmless(etag, sizeof etag);
    if (redfish_answer_location(answer, path) == 0) {
        harmless_path(path);
    }
    if (redfish_answer_member(answer, path, &err) == 0) {
        harmless_path(path);
    }
    redfish_answer_complaint(answer, complaint, sizeof complaint);
    for (const char *at = complaint; *at != '\0'; at++) {
        CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
    }
    (void)redfish_answer_task(answer);
    reset_ways(answer);
    redfish_answer_destroy(answer);
    return 0;
}
