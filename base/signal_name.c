/* base/signal_name.c - signals by name: see signal_name.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/signal_name.h"

#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "base/text.h"

static const struct {
    const char *name;
    int number;
} SIGNALS[] = {
    {"SIGHUP", 1},   {"SIGINT", 2},    {"SIGQUIT", 3},  {"SIGILL", 4},   {"SIGTRAP", 5},
    {"SIGABRT", 6},  {"SIGBUS", 7},    {"SIGFPE", 8},   {"SIGKILL", 9},  {"SIGUSR1", 10},
    {"SIGSEGV", 11}, {"SIGUSR2", 12},  {"SIGPIPE", 13}, {"SIGALRM", 14}, {"SIGTERM", 15},
    {"SIGCHLD", 17}, {"SIGCONT", 18},  {"SIGSTOP", 19}, {"SIGTSTP", 20}, {"SIGTTIN", 21},
    {"SIGTTOU", 22}, {"SIGURG", 23},   {"SIGXCPU", 24}, {"SIGXFSZ", 25}, {"SIGVTALRM", 26},
    {"SIGPROF", 27}, {"SIGWINCH", 28}, {"SIGIO", 29},   {"SIGPWR", 30},  {"SIGSYS", 31},
};

int signal_name_number(const char *text)
{
    int64_t number = 0;
    bool is_number = text_parse_int64(text, &number, NULL) == 0;
    for (size_t i = 0; i < ARRAY_COUNT(SIGNALS); i++) {
        if (is_number ? SIGNALS[i].number == number : text_equal_nocase(SIGNALS[i].name, text)) {
            return SIGNALS[i].number;
        }
    }
    return 0;
}

const char *signal_name_text(int number)
{
    for (size_t i = 0; i < ARRAY_COUNT(SIGNALS); i++) {
        if (SIGNALS[i].number == number) {
            return SIGNALS[i].name;
        }
    }
    return NULL;
}
