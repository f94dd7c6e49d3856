/* startd/machine/opsys_plan.c - the name and version of the machine's operating system: see
 * opsys_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/machine/opsys_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"

#define VALUE_SIZE  200    /* most bytes of a value, with the terminating zero */
#define VERSION_MAX 100000 /* anything above is no version */

/* Finds the value of KEY=..., without its quotes.  False: there is none. */
static bool value_of(const char *text, const char *key, char ret[VALUE_SIZE])
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, key, length) == 0 && line[length] == '=') {
            const char *at = line + length + 1;
            char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
            size_t used = 0;
            for (; *at != '\0' && *at != '\n' && *at != quote && used + 1 < VALUE_SIZE; at++) {
                at += quote != '\'' && *at == '\\' && at[1] != '\0' && at[1] != '\n' ? 1 : 0;
                ret[used++] = *at;
            }
            ret[used] = '\0';
            return used > 0;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return false;
}

static const char *name_of(const char *long_name)
{
    static const char *const NAMES[][2] = {{"*Red Hat*", "RedHat"},
                                           {"*Fedora*", "Fedora"},
                                           {"*Ubuntu*", "Ubuntu"},
                                           {"*Debian*", "Debian"},
                                           {"*Scientific*", "SL"},
                                           {"*CentOS*", "CentOS"},
                                           {"*AlmaLinux*", "AlmaLinux"},
                                           {"*Amazon Linux*", "AmazonLinux"},
                                           {"*Rocky*", "Rocky"},
                                           {"*openSUSE*", "openSUSE"},
                                           {"*SUSE*", "SUSE"}};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (text_glob(NAMES[i][0], long_name, true)) {
            return NAMES[i][1];
        }
    }
    return "LINUX";
}

/* Reads a number at *at and moves *at behind it; at most VERSION_MAX. */
static int64_t number_at(const char **at)
{
    int64_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        number = number < VERSION_MAX ? number * 10 + (**at - '0') : VERSION_MAX;
    }
    return number;
}

static bool version_in(const char *text, int64_t *major, int64_t *minor)
{
    const char *at = strpbrk(text, "0123456789");
    if (at == NULL) {
        return false;
    }
    *major = number_at(&at);
    *minor = 0;
    if (*at == '.') {
        at++;
        *minor = number_at(&at);
    }
    return *major < VERSION_MAX && *minor < VERSION_MAX;
}

void opsys_plan_name(const char *text, struct ad *ad)
{
    char long_name[VALUE_SIZE], version[VALUE_SIZE];
    if (!value_of(text, "PRETTY_NAME", long_name) && !value_of(text, "NAME", long_name)) {
        memcpy(long_name, "LINUX", sizeof "LINUX");
    }
    const char *name = name_of(long_name);
    ad_set_string(ad, "OpSysLongName", long_name);
    ad_set_string(ad, "OpSysName", name);
    ad_set_string(ad, "OpSysShortName", name);
    int64_t major, minor;
    if (version_in(long_name, &major, &minor) ||
        (value_of(text, "VERSION_ID", version) && version_in(version, &major, &minor))) {
        struct strbuf and_version;
        strbuf_init(&and_version, 0);
        strbuf_printf(&and_version, "%s%lld", name, (long long)major);
        ad_set_int(ad, "OpSysMajorVer", major);
        ad_set_int(ad, "OpSysVer", major * 100 + minor);
        ad_set_string(ad, "OpSysAndVer", strbuf_text(&and_version));
        strbuf_fini(&and_version);
    }
}
