/* base/daemon/prepared_linux.c - the process that copies itself: see prepared.h.
 *
 * Design note: /proc/PID/cmdline and environ show the memory where the kernel put arguments and
 * variables at the start.  A copy writes its own there.  To have room for them, the process is
 * started with an argument and a variable that are nothing but long.  (prctl(PR_SET_MM) could move
 * that memory, but needs a privilege.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define NAME_BYTES 16 /* most bytes of a process's name (comm), with the terminating zero */

/* Memory that /proc shows. */
struct room {
    char *begin;
    size_t bytes;
};

struct order {
    const char *directory;
    size_t argument_count, variable_count;
    const char *arguments, *variables; /* one string behind the other */
    size_t arguments_bytes, variables_bytes;
};

/* Finds the memory of these strings; false if they do not lie one after the other. */
static bool find_room(char *const *strings, struct room *ret)
{
    if (strings[0] == NULL) {
        return false;
    }
    char *end = strings[0];
    for (size_t i = 0; strings[i] != NULL; i++) {
        if (strings[i] != end) {
            return false;
        }
        end += strlen(end) + 1;
    }
    *ret = (struct room){strings[0], (size_t)(end - strings[0])};
    return true;
}

/* Skips so many strings in data[*at..length); false if there are fewer. */
static bool skip_strings(const char *data, size_t length, size_t count, size_t *at)
{
    for (size_t i = 0; i < count; i++) {
        const char *end = memchr(data + *at, '\0', length - *at);
        if (end == NULL) {
            return false;
        }
        *at = (size_t)(end - data) + 1;
    }
    return true;
}

static bool parse_order(const char *data, size_t length, struct order *ret)
{
    struct prepared_order head;
    size_t at = sizeof(head);
    if (length < sizeof(head)) {
        return false;
    }
    memcpy(&head, data, sizeof(head));
    *ret = (struct order){.directory = data + at,
                          .argument_count = head.argument_count,
                          .variable_count = head.variable_count};
    if (head.argument_count < 1 || !skip_strings(data, length, 1, &at)) {
        return false;
    }
    ret->arguments = data + at;
    if (!skip_strings(data, length, head.argument_count, &at)) {
        return false;
    }
    ret->arguments_bytes = (size_t)(data + at - ret->arguments);
    ret->variables = data + at;
    if (!skip_strings(data, length, head.variable_count, &at)) {
        return false;
    }
    ret->variables_bytes = (size_t)(data + at - ret->variables);
    return at == length;
}

static bool is_set_by(const struct order *order, const char *variable)
{
    size_t length = strcspn(variable, "=") + 1;
    const char *each = order->variables;
    for (size_t i = 0; i < order->variable_count; i++, each += strlen(each) + 1) {
        if (strncmp(each, variable, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool fits_room(const struct order *order, const struct room *arguments)
{
    return order->arguments_bytes <= arguments->bytes &&
           order->variables_bytes <= PREPARED_ENV_BYTES;
}

/* Clears the room from there on: whole pages by giving them back, because a page that is written to
 * is the copy's own. */
static void clear_rest(const struct room *room, size_t from)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *begin = room->begin + from, *end = room->begin + room->bytes;
    char *first = begin + (page - (uintptr_t)begin % page) % page;
    char *last = end - (uintptr_t)end % page;
    if (first < last && madvise(first, (size_t)(last - first), MADV_DONTNEED) == 0) {
        memset(begin, 0, (size_t)(first - begin));
        memset(last, 0, (size_t)(end - last));
    } else {
        memset(begin, 0, (size_t)(end - begin));
    }
}

/* Sets our variables, without the one that reserves room, and then the order's, in the memory that
 * /proc shows. */
static void set_environment(const struct order *order, const struct room *room)
{
    char *text = mem_alloc(room->bytes + order->variables_bytes);
    size_t count = 0, bytes = 0;
    for (char **each = environ; *each != NULL; each++) {
        size_t length = strlen(*each) + 1;
        if (strncmp(*each, PREPARED_ROOM "=", sizeof(PREPARED_ROOM)) != 0 &&
            !is_set_by(order, *each)) {
            memcpy(text + bytes, *each, length);
            bytes += length;
            count++;
        }
    }
    memcpy(text + bytes, order->variables, order->variables_bytes);
    bytes += order->variables_bytes;
    count += order->variable_count;
    memcpy(room->begin, text, bytes); /* it fits: the room's own text is gone */
    clear_rest(room, bytes);
    mem_free(text);
    char **variables = mem_alloc((count + 1) * sizeof(*variables));
    char *at = room->begin;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1) {
        variables[i] = at;
    }
    variables[count] = NULL;
    environ = variables; /* for the life of the process, as the one before */
}

static void set_arguments(const struct order *order, const struct room *room, int *argc,
                          char ***argv)
{
    memcpy(room->begin, order->arguments, order->arguments_bytes);
    clear_rest(room, order->arguments_bytes);
    char **arguments = mem_alloc((order->argument_count + 1) * sizeof(*arguments));
    char *at = room->begin;
    for (size_t i = 0; i < order->argument_count; i++, at += strlen(at) + 1) {
        arguments[i] = at;
    }
    arguments[order->argument_count] = NULL;
    *argc = (int)order->argument_count;
    *argv = arguments;
}

static void send_answer(int fd, int error, pid_t pid)
{
    struct prepared_answer text = {.error = error, .pid = (int32_t)pid};
    (void)!send(fd, &text, sizeof(text), MSG_NOSIGNAL); /* nobody there: found out at the read */
}

/* Sets directory and session of the copy, which then reports itself that it is there. */
static bool settle_copy(const struct order *order, int fd)
{
    if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || setsid() < 0 || chdir(order->directory) != 0) {
        send_answer(fd, errno, 0);
        return false;
    }
    return true;
}

/* Waits for an order and copies itself; true in the copy. */
static bool serve_order(int fd, const struct room *arguments, const struct room *environment,
                        const char *name, int *argc, char ***argv)
{
    char data[PREPARED_ORDER_BYTES];
    struct order order;
    ssize_t got = recv(fd, data, sizeof(data), 0);
    if (got <= 0) {
        if (got < 0 && errno == EINTR) {
            return false;
        }
        _exit(0);
    }
    if (!parse_order(data, (size_t)got, &order) || !fits_room(&order, arguments)) {
        send_answer(fd, E2BIG, 0);
        return false;
    }
    pid_t pid = fork();
    if (pid != 0) {
        if (pid < 0) {
            send_answer(fd, errno, 0);
        }
        return false;
    }
    if (!settle_copy(&order, fd)) {
        _exit(1);
    }
    set_environment(&order, environment);
    set_arguments(&order, arguments, argc, argv);
    (void)prctl(PR_SET_NAME, name);
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* its marks are to be seen; it closes itself */
    send_answer(fd, 0, getpid());
    close(fd);
    return true;
}

void *prepared_main(int *argc, char ***argv, void *(*warm)(void))
{
    char name[NAME_BYTES] = "";
    struct room arguments, environment;
    if (*argc != 3 || strcmp((*argv)[1], PREPARED_ARGUMENT) != 0) {
        return NULL;
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (null < 0 || fd < 0 || dup2(null, STDIN_FILENO) < 0 || !find_room(*argv, &arguments) ||
        !find_room(environ, &environment) || signal(SIGCHLD, SIG_IGN) == SIG_ERR) {
        _exit(1);
    }
    close(null);
    (void)prctl(PR_GET_NAME, name);
    (void)prctl(PR_SET_NAME, "roost-prepared");
    void *warmed = warm();
    mem_settle();
    mem_share();
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* a job of our account is to look into none of us */
    send_answer(fd, 0, 0);
    while (!serve_order(fd, &arguments, &environment, name, argc, argv)) {
    }
    return warmed;
}
