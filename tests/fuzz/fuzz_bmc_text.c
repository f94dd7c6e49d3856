/* What programs that speak with management controllers print, for any bytes: two answers are
 * believed, a line for logs is one; and addresses of controllers.
 *
 * LINK: power
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "power/bmc_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void addresses(const char *text)
{
    char host[BMC_TEXT_HOST_MAX], port[BMC_TEXT_PORT_MAX];
    memset(host, 'x', sizeof host);
    if (bmc_text_address(text, 623, host, port) == 0) {
        CHECK(memchr(host, '\0', sizeof host) != NULL && host[0] != '\0');
        CHECK(strstr(text, host) != NULL);
        CHECK(port[0] >= '1' && port[0] <= '9' && strlen(port) <= 5);
        CHECK(strspn(port, "0123456789") == strlen(port));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char ON[] = "Chassis Power is on\n", OFF[] = "Chassis Power is off\n";
    char line[64];
    if (size > 65536) {
        return 0;
    }
    char *bytes = mem_dup(data, size), *text = mem_strndup((const char *)data, size);
    enum power_state state = bmc_text_state(bytes, size);
    CHECK((state == POWER_ON) == (size == sizeof ON - 1 && memcmp(bytes, ON, size) == 0));
    CHECK((state == POWER_OFF) == (size == sizeof OFF - 1 && memcmp(bytes, OFF, size) == 0));
    bmc_text_last_line(bytes, size, line, sizeof line);
    CHECK(strlen(line) < sizeof line && line[0] != ' ');
    for (const char *at = line; *at != '\0'; at++) {
        CHECK(*at >= ' ' && *at <= '~');
    }
    addresses(text);
    mem_free(text);
    mem_free(bytes);
    return 0;
}
