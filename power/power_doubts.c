/* power/power_doubts.c - see power_doubts.h.
 *
 * A section of a pool with thousands of machines names the same program as all others, and a file
 * of its own: so what is known of a path is kept while the sections are looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power_doubts.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/mem.h"
#include "base/net_text.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"

#define DOUBTS_MAX 20 /* that are said; the rest is counted */

struct doubts {
    const struct daemon_checking *checking;
    const struct config_section *section; /* the one that is looked at */
    struct strmap *paths; /* what is wrong with a path: a text; FINE if nothing is */
    size_t count;
};

/* nothing is wrong with a path; a value of `paths` must not be NULL */
#define FINE ""

#define PROCESS 1u
#define COMMAND 2u
#define WOL     4u
#define LIBVIRT 8u
#define IPMI    16u
#define REDFISH 32u

static const struct {
    const char *name;
    unsigned bit;
} METHODS[] = {{"process", PROCESS}, {"command", COMMAND}, {"wol", WOL},
               {"libvirt", LIBVIRT}, {"ipmi", IPMI},       {"redfish", REDFISH}};

/* The methods that read an option; options that are not here are of all methods. */
static const struct {
    const char *option;
    unsigned methods;
    enum { OF_NONE, OF_FILE, OF_PROGRAM, OF_COMMAND } path;
} OPTIONS[] = {
    {"config", PROCESS, OF_FILE},
    {"lock_dir", PROCESS, OF_NONE},
    {"program", PROCESS, OF_PROGRAM},
    {"wake_command", COMMAND, OF_COMMAND},
    {"sleep_command", COMMAND, OF_COMMAND},
    {"status_command", COMMAND, OF_COMMAND},
    {"hardware_address", WOL, OF_NONE},
    {"subnet", WOL, OF_NONE},
    {"relay", WOL, OF_NONE},
    {"password_file", WOL, OF_FILE},
    {"wake_port", WOL, OF_NONE},
    {"wake_repeats", WOL, OF_NONE},
    {"uri", LIBVIRT, OF_NONE},
    {"domain", LIBVIRT, OF_NONE},
    {"domain_sleep", LIBVIRT, OF_NONE},
    {"helper", LIBVIRT, OF_PROGRAM},
    {"shutdown_timeout", LIBVIRT | IPMI | REDFISH, OF_NONE},
    {"bmc", IPMI | REDFISH, OF_NONE},
    {"bmc_user", IPMI | REDFISH, OF_NONE},
    {"bmc_password_file", IPMI | REDFISH, OF_FILE},
    {"bmc_sleep", IPMI | REDFISH, OF_NONE},
    {"cipher_suite", IPMI, OF_NONE},
    {"privilege", IPMI, OF_NONE},
    {"ipmitool", IPMI, OF_PROGRAM},
    {"bmc_system", REDFISH, OF_NONE},
    {"bmc_ca", REDFISH, OF_FILE},
    {"bmc_pin", REDFISH, OF_NONE},
    {"curl", REDFISH, OF_PROGRAM},
};

/* ---- saying */

/* Says a doubt about an option of the section; option NULL: about the section. */
static void say(struct doubts *doubts, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct doubts *doubts, const char *option, const char *format, ...)
{
    struct config_origin origin;
    struct strbuf line;
    char what[600];
    va_list args;
    if (doubts->count++ >= DOUBTS_MAX) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args); /* cut: the beginning says it */
    va_end(args);
    strbuf_init(&line, 0);
    if (section_why(doubts->section, option, &origin) ||
        section_why(doubts->section, NULL, &origin)) {
        strbuf_printf(&line, "%s:%u: ", origin.file, origin.line);
    }
    strbuf_printf(&line, "node %s: %s%s%s", section_title(doubts->section),
                  option != NULL ? option : "", option != NULL ? ": " : "", what);
    doubts->checking->doubt(doubts->checking->arg, strbuf_text(&line));
    strbuf_fini(&line);
}

/* ---- paths */

static void check_path(struct doubts *doubts, const char *option, const char *path, bool is_program)
{
    struct config_origin origin;
    const char *known = strmap_get(doubts->paths, path);
    bool is_set = section_why(doubts->section, option, &origin);
    bool is_new = known == NULL;
    if (is_new) {
        known = daemon_doubt_path(doubts->checking, path, is_program);
        known = known != NULL ? known : FINE;
        (void)strmap_set(doubts->paths, path, (void *)(uintptr_t)known); /* was absent */
    }
    if (known[0] != '\0' && (is_set || is_new)) { /* of a default, once is enough */
        say(doubts, option, "%s %s", path, known);
    }
}

static void check_command(struct doubts *doubts, const char *option, const char *command)
{
    struct vec words = {0};
    if (args_parse_v2(command, &words, NULL) == 0 && words.count > 0) {
        check_path(doubts, option, words.items[0], true);
    }
    vec_fini(&words, mem_free);
}

/* ---- sections */

static void check_name(struct doubts *doubts, struct strmap *names)
{
    const char *name = section_title(doubts->section);
    struct config_origin origin;
    const struct config_section *other = strmap_get(names, name);
    if (strpbrk(name, " \t") != NULL) {
        say(doubts, NULL, "no machine's name has a blank");
    } else if (strpbrk(name, "[]*,") != NULL) {
        say(doubts, NULL, "a section is of one machine; expected its name, not a pattern");
    }
    if (other != NULL && section_why(other, NULL, &origin)) {
        say(doubts, NULL, "the name differs only in case from that of the section in %s:%u",
            origin.file, origin.line);
    } else {
        (void)strmap_set(names, name, (void *)(uintptr_t)doubts->section); /* was absent */
    }
}

static unsigned method_bit(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(METHODS); i++) {
        if (strcmp(METHODS[i].name, name) == 0) {
            return METHODS[i].bit;
        }
    }
    return 0;
}

/* Returns the methods of the machine, and says which are there twice. */
static unsigned collect_methods(struct doubts *doubts)
{
    size_t count;
    const char *const *next = section_list(doubts->section, "next_methods", &count);
    unsigned methods = method_bit(section_string(doubts->section, "method"));
    for (size_t i = 0; i < count; i++) {
        unsigned bit = method_bit(next[i]);
        if ((methods & bit) != 0) {
            say(doubts, "next_methods",
                "%s is a method of the machine already; it is tried as often as "
                "ROOSTER_WAKE_ATTEMPTS says",
                next[i]);
        }
        methods |= bit;
    }
    return methods;
}

static void say_unused(struct doubts *doubts, size_t index)
{
    struct strbuf names;
    strbuf_init(&names, 0);
    for (size_t i = 0; i < ARRAY_COUNT(METHODS); i++) {
        if ((OPTIONS[index].methods & METHODS[i].bit) != 0) {
            strbuf_printf(&names, "%s%s", names.length > 0 ? ", " : "", METHODS[i].name);
        }
    }
    say(doubts, OPTIONS[index].option,
        "has no effect: the methods that read it (%s) are not the machine's", strbuf_text(&names));
    strbuf_fini(&names);
}

static void check_option(struct doubts *doubts, size_t index, unsigned methods)
{
    const char *option = OPTIONS[index].option;
    const struct config_section *section = doubts->section;
    struct config_origin origin;
    if ((methods & OPTIONS[index].methods) == 0) {
        if (section_why(section, option, &origin)) {
            say_unused(doubts, index);
        }
        return;
    }
    const char *text = OPTIONS[index].path == OF_NONE      ? NULL
                       : OPTIONS[index].path == OF_COMMAND ? section_string(section, option)
                                                           : section_path(section, option);
    if (text == NULL || text[0] == '\0') {
        return;
    }
    if (OPTIONS[index].path == OF_COMMAND) {
        check_command(doubts, option, text);
    } else {
        check_path(doubts, option, text, OPTIONS[index].path == OF_PROGRAM);
    }
}

static void check_subnet(struct doubts *doubts)
{
    const char *text = section_string(doubts->section, "subnet");
    char network[NET_TEXT_MAX];
    struct net_subnet subnet;
    uint32_t address;
    char host[NET_TEXT_MAX];
    if (text == NULL || net_text_subnet(text, &subnet, NULL) != 0) {
        return; /* checked elsewhere */
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)strcspn(text, "/"), text);
    if (net_text_ipv4(host, &address, NULL) == 0 && address != subnet.address) {
        say(doubts, "subnet", "%s is the address of a host; the network is %s", text,
            net_text_put_subnet(&subnet, network));
    }
}

static void check_section(struct doubts *doubts, struct strmap *names)
{
    double idle = section_real(doubts->section, "idle_watts");
    double busy = section_real(doubts->section, "busy_watts");
    check_name(doubts, names);
    unsigned methods = collect_methods(doubts);
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        check_option(doubts, i, methods);
    }
    check_subnet(doubts);
    if (busy > 0 && idle > busy) {
        say(doubts, "idle_watts", "an idle machine draws more than a busy one (busy_watts)");
    }
}

void power_doubts(const struct daemon_checking *checking)
{
    struct doubts doubts = {.checking = checking, .paths = strmap_create(STRMAP_CASE_SENSITIVE)};
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    size_t count = config_section_count(checking->config, "node");
    for (size_t i = 0; i < count; i++) {
        doubts.section = config_section_at(checking->config, "node", i);
        check_section(&doubts, names);
    }
    if (doubts.count > DOUBTS_MAX) {
        char text[120];
        (void)snprintf(text, sizeof text, "%zu more doubts about 'node' sections are not shown",
                       doubts.count - DOUBTS_MAX);
        checking->doubt(checking->arg, text);
    }
    strmap_destroy(names, NULL);
    strmap_destroy(doubts.paths, NULL);
}
