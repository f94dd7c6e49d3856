/* Fuzzing of what a factory sends to a site: what is accepted has no name that a shell or a file
 * system would take for something else.
 *
 * LINK: site base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_request.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        CHECK((unsigned char)*text >= ' ' && *text != 0x7f);
    }
}

static void check_harmless(const char *text)
{
    CHECK(text[0] != '-' && text[0] != '.' && strlen(text) <= SITE_NAME_MAX);
    CHECK(strpbrk(text, " \t\n'\"$`\\/;|&<>(){}*?[]~#!") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct site_request request;
    struct err err = {""};
    if (size > 65536) {
        return 0;
    }
    if (site_request_parse((const char *)data, size, &request, &err) != 0) {
        CHECK(err.text[0] != '\0');
        site_request_fini(&request);
        return 0;
    }
    CHECK(request.id > 0 && request.deadline_s > 0);
    for (size_t i = 0; i < request.option_count; i++) {
        check_plain(request.options[i].value);
    }
    for (size_t i = 0; i < request.name_count; i++) {
        check_harmless(request.names[i]);
    }
    if (request.operation == SITE_SUBMIT) {
        check_harmless(request.batch);
        check_plain(request.secret);
        CHECK(request.count > 0 && request.count <= SITE_COUNT_MAX);
        for (size_t i = 0; i < request.argument_count; i++) {
            check_plain(request.arguments[i]);
        }
    }
    site_request_fini(&request);
    return 0;
}
