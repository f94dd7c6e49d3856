/* ckpt/library/library.c - a program that makes checkpoint images of itself: see
 * roost_checkpoint.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "ckpt/library/library.h"
#include "ckpt/library/roost_checkpoint.h"
#include "ckpt/library/tag.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define EXPORTED         __attribute__((visibility("default")))
#define INTERVAL_MAX     (366U * 86400)
#define SIGNAL_BYTES     8
#define BEFORE_ALL_OTHER 101
#define WHOLE_VARIABLE   "ROOST_CHECKPOINT_JOB"

/* The state of the process into which the library is linked; there is one. */
static struct library the_library;
/* Sections of this thread.  To make an image counts as one: neither a hook nor a signal handler
 * that runs meanwhile can ask for another image, because it would wait for its own thread. */
static __thread volatile unsigned own_sections;
__attribute__((used)) static const char TAG[] = LIBRARY_TAG;

static bool is_in_use(void)
{
    return the_library.pid != 0 && the_library.pid == (int32_t)SYS0(getpid);
}

/* ---- images */

int library_take(struct library *library, bool ends, bool hooks)
{
    gate_close(&library->gate);
    if (hooks && library->before != NULL) {
        library->before(library->arg);
    }
    int rc = take_image(library, ends);
    __atomic_store_n(&library->last_ns, watch_now_ns(), __ATOMIC_SEQ_CST);
    if (hooks && rc == 1 && library->resumed != NULL) {
        library->resumed(library->arg);
    } else if (hooks && rc != 1 && library->after != NULL) {
        library->after(library->arg, rc);
    }
    __atomic_store_n(&library->outcome.is_held_no_more, 0, __ATOMIC_SEQ_CST);
    gate_open(&library->gate);
    return rc;
}

EXPORTED int roost_checkpoint(void)
{
    if (!is_in_use()) {
        return -EPERM;
    }
    if (own_sections > 0) {
        return -EBUSY;
    }
    own_sections++;
    int rc = library_take(&the_library, false, true);
    own_sections--;
    return rc;
}

EXPORTED const char *roost_checkpoint_error(void)
{
    return the_library.outcome.text;
}

/* ---- sections */

static uint64_t hold_signals(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask = 0;
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &all, &mask, SIGNAL_BYTES);
    return mask;
}

static void let_signals(uint64_t mask)
{
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, SIGNAL_BYTES);
}

/* A signal handler that runs meanwhile has sections of its own: it must find this thread inside or
 * outside of a section, and nothing between. */
EXPORTED void roost_checkpoint_disable(void)
{
    while (own_sections == 0 && is_in_use()) {
        uint64_t mask = hold_signals();
        bool entered = gate_try(&the_library.gate, &the_library.outcome);
        own_sections = entered ? 1 : 0;
        let_signals(mask);
        if (entered) {
            return;
        }
        gate_wait(&the_library.gate, &the_library.outcome);
    }
    own_sections++;
}

EXPORTED void roost_checkpoint_enable(void)
{
    if (own_sections == 1 && is_in_use()) {
        uint64_t mask = hold_signals();
        gate_leave(&the_library.gate);
        own_sections = 0;
        let_signals(mask);
    } else {
        own_sections -= own_sections > 0 ? 1 : 0;
    }
}

/* ---- hooks */

static void *watch_known(void *arg)
{
    struct library *library = arg;
    own_sections++; /* it does nothing but taking images */
    __atomic_store_n(&library->watcher, (int32_t)SYS0(gettid), __ATOMIC_SEQ_CST);
    watch_run(library, true);
    return NULL;
}

/* Replaces the watcher by a thread that may call functions of the program. */
static int watch_with_hooks(struct library *library)
{
    pthread_t thread;
    sigset_t all, mask;
    int32_t old = library->watcher;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    int rc = pthread_create(&thread, NULL, watch_known, library);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (rc == 0) {
        (void)pthread_detach(thread);
        while (__atomic_load_n(&library->watcher, __ATOMIC_SEQ_CST) == old) {
            (void)SYS0(sched_yield); /* until the new one has begun: microseconds */
        }
        watch_wake(library, old);
    }
    return -rc;
}

EXPORTED int roost_checkpoint_hooks(void (*before)(void *arg), void (*after)(void *arg, int result),
                                    void (*resumed)(void *arg), void *arg)
{
    struct library *library = &the_library;
    if (!is_in_use()) {
        return -EPERM;
    }
    bool alone = own_sections == 0; /* else: in a hook, or no image is made now anyway */
    if (alone) {
        gate_close(&library->gate);
    }
    bool first = library->before == NULL && library->after == NULL && library->resumed == NULL;
    bool any = before != NULL || after != NULL || resumed != NULL;
    int rc = first && any && library->watcher != 0 ? watch_with_hooks(library) : 0;
    if (rc == 0) {
        library->before = before;
        library->after = after;
        library->resumed = resumed;
        library->arg = arg;
    }
    if (alone) {
        gate_open(&library->gate);
    }
    return rc;
}

/* ---- settings */

EXPORTED void roost_checkpoint_interval(unsigned seconds)
{
    struct library *library = &the_library;
    seconds = seconds < INTERVAL_MAX ? seconds : INTERVAL_MAX;
    __atomic_store_n(&library->interval_s, seconds, __ATOMIC_SEQ_CST);
    __atomic_store_n(&library->last_ns, watch_now_ns(), __ATOMIC_SEQ_CST);
    if (is_in_use()) {
        watch_wake(library, library->watcher);
    }
}

static int append_path(char *path, const char *more)
{
    size_t length = strlen(path), bytes = strlen(more) + 1;
    if (length + bytes > LIBRARY_PATH) {
        return -ENAMETOOLONG;
    }
    memcpy(path + length, more, bytes);
    return 0;
}

/* Makes a path absolute, from the program's present working directory. */
static int make_absolute(const char *path, char *ret)
{
    ret[0] = '\0';
    if (path[0] == '/') {
        return append_path(ret, path);
    }
    if (SYS2(getcwd, ret, LIBRARY_PATH) < 0 || ret[0] != '/') {
        ret[0] = '\0';
        return -ENOENT;
    }
    int rc = append_path(ret, "/");
    return rc != 0 ? rc : append_path(ret, path);
}

EXPORTED int roost_checkpoint_file(const char *path)
{
    char whole[LIBRARY_PATH];
    int rc = make_absolute(path, whole);
    if (rc == 0) {
        bool alone = own_sections == 0 && is_in_use();
        if (alone) {
            gate_close(&the_library.gate);
        }
        memcpy(the_library.file, whole, sizeof whole);
        if (alone) {
            gate_open(&the_library.gate);
        }
    }
    return rc;
}

/* Sets the default name, PROGRAM.ckpt. */
static void name_file(struct library *library)
{
    char link[LIBRARY_PATH];
    const char *given = secure_getenv("ROOST_CHECKPOINT_FILE");
    long length = SYS4(readlinkat, -100 /* AT_FDCWD */, "/proc/self/exe", link, sizeof link - 1);
    link[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(link, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : "job";
    int rc = given != NULL && given[0] != '\0' ? make_absolute(given, library->file)
                                               : make_absolute(name, library->file);
    if (rc == 0 && (given == NULL || given[0] == '\0')) {
        rc = append_path(library->file, ".ckpt");
    }
    if (rc != 0) { /* there is an error when an image is made, not before */
        library->file[0] = '\0';
    }
}

/* ---- signals, and the beginning */

/* A program with the library that was started by another such program belongs to that job: its own
 * images would hold a part, in place of the whole.  The first program tells all that it starts; a
 * program that replaces another one by exec still has its process number. */
static bool is_part_of_another(void)
{
    struct stub_text own = {.length = 0};
    const char *whole = secure_getenv(WHOLE_VARIABLE);
    long pid = SYS0(getpid);
    if (whole != NULL && whole[0] != '\0') {
        return strtoul(whole, NULL, 10) != (unsigned long)pid;
    }
    text_put_number(&own, pid);
    (void)setenv(WHOLE_VARIABLE, own.bytes, 1); /* no room: as it was without */
    return false;
}

/* A thread of the program has unblocked the signal: passes it to the watcher, and blocks it
 * again. */
static void hand_on(int signal, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    (void)info;
    (void)sigaddset(&interrupted->uc_sigmask, SIGTSTP);
    (void)sigaddset(&interrupted->uc_sigmask, SIGUSR2);
    if (is_in_use()) {
        (void)SYS3(tgkill, the_library.pid, the_library.watcher, signal);
    }
}

__attribute__((constructor(BEFORE_ALL_OTHER))) static void begin_watching(void)
{
    struct library *library = &the_library;
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    const char *interval = secure_getenv("ROOST_CHECKPOINT_INTERVAL");
    const char *log = secure_getenv("ROOST_CHECKPOINT_LOG");
    int error = errno;
    if (is_part_of_another()) {
        errno = error;
        return;
    }
    unsigned long seconds = interval != NULL ? strtoul(interval, NULL, 10) : 0;
    library->pid = (int32_t)SYS0(getpid);
    library->interval_s = seconds < INTERVAL_MAX ? (uint32_t)seconds : INTERVAL_MAX;
    library->last_ns = watch_now_ns();
    name_file(library);
    if (log != NULL && log[0] != '\0' && make_absolute(log, library->log) != 0) {
        library->log[0] = '\0';
    }
    if (watch_start(library) == 0) { /* else only the program itself can ask */
        (void)sigaction(SIGTSTP, &action, NULL);
        (void)sigaction(SIGUSR2, &action, NULL);
    }
    errno = error;
}
