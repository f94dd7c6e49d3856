/* power/bmc_text.c - see bmc_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/bmc_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum power_state bmc_text_state(const char *data, size_t length)
{
    static const struct {
        const char *words;
        enum power_state state;
    } ANSWERS[] = {{"Chassis Power is on\n", POWER_ON}, {"Chassis Power is off\n", POWER_OFF}};
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++) {
        if (length == strlen(ANSWERS[i].words) && memcmp(data, ANSWERS[i].words, length) == 0) {
            return ANSWERS[i].state;
        }
    }
    return POWER_UNKNOWN;
}

int bmc_text_address(const char *text, int default_port, char host[BMC_TEXT_HOST_MAX],
                     char port[BMC_TEXT_PORT_MAX])
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *colon = end;
    size_t length = strlen(text);
    if (text[0] == '[') {
        if (end == NULL || (end[1] != '\0' && end[1] != ':')) {
            return -EINVAL;
        }
        colon = end[1] == ':' ? end + 1 : NULL;
        length = (size_t)(end - ++text);
    } else if (colon != NULL && strchr(text, ':') != colon) {
        colon = NULL;
    } else if (colon != NULL) {
        length = (size_t)(colon - text);
    }
    int64_t number = default_port;
    if (colon != NULL &&
        (text_parse_int64(colon + 1, &number, NULL) != 0 || number < 1 || number > 65535)) {
        return -EINVAL;
    }
    if (length == 0 || length >= BMC_TEXT_HOST_MAX) {
        return -EINVAL;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    (void)snprintf(port, BMC_TEXT_PORT_MAX, "%d", (int)(uint16_t)number);
    return 0;
}

static bool is_blank(char c)
{
    return text_is_space(c) || c == '\0';
}

void bmc_text_clean(char *text)
{
    for (; *text != '\0'; text++) {
        *text = is_blank(*text) ? ' ' : *text < ' ' || *text > '~' ? '?' : *text;
    }
}

void bmc_text_last_line(const char *data, size_t length, char *ret, size_t size)
{
    size_t begin;
    while (length > 0 && is_blank(data[length - 1])) {
        length--;
    }
    for (begin = length; begin > 0 && data[begin - 1] != '\n'; begin--) {
    }
    while (begin < length && is_blank(data[begin])) {
        begin++;
    }
    length = length - begin < size ? length - begin : size - 1;
    for (size_t i = 0; i < length; i++) {
        ret[i] = is_blank(data[begin + i]) ? ' ' : data[begin + i];
    }
    ret[length] = '\0';
    bmc_text_clean(ret);
}
