/* A program that asks for images of itself, and says what it saw: itself MODE.
 *
 * ROOST_CHECKPOINT_LOG is set: a line there says that an image is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/library/roost_checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HEAP (1U << 20)

static void wait_a_little(void)
{
    const struct timespec little = {.tv_nsec = 2000000};
    if (nanosleep(&little, NULL) != 0) {
        printf("a nanosleep ended early: %d\n", errno);
    }
}

/* ---- images that are made now */

static long log_bytes(void)
{
    struct stat st;
    return stat(getenv("ROOST_CHECKPOINT_LOG"), &st) == 0 ? (long)st.st_size : 0;
}

static void wait_for_image(long before)
{
    while (log_bytes() <= before) {
        wait_a_little();
    }
}

static void make_image_by_signal(void)
{
    long before = log_bytes();
    (void)kill(getpid(), SIGUSR2);
    wait_for_image(before);
}

/* Until the library's thread waits for signals again, most probably. */
static void wait_for_watcher(void)
{
    for (int i = 0; i < 20; i++) {
        wait_a_little();
    }
}

/* ---- generations: as many lives, each ends at its image */

static int generations(long count)
{
    uint32_t *heap = malloc(HEAP);
    double sum = 0;
    for (size_t i = 0; i < HEAP / sizeof *heap; i++) {
        heap[i] = (uint32_t)(i * 2654435761U);
    }
    for (long i = 1; i <= count; i++) {
        sum += 1.0 / (double)i;
        int rc = roost_checkpoint();
        if (rc == 0) {
            return 7;
        }
        if (rc != 1) {
            printf("no image: %d, %s\n", rc, roost_checkpoint_error());
            return 1;
        }
        sum += heap[(size_t)i * 1000 % (HEAP / sizeof *heap)];
    }
    printf("%ld generations: %.17g\n", count, sum);
    free(heap);
    return 0;
}

/* ---- hooks */

static char seen[256];
static volatile int rounds;

static void see(const char *what, int number)
{
    size_t length = strlen(seen);
    (void)snprintf(seen + length, sizeof seen - length, "%s%d ", what, number);
}

static int is_first_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

static void before(void *arg)
{
    roost_checkpoint_disable(); /* a hook may do what the program does */
    roost_checkpoint_enable();
    see(arg, is_first_thread());
}

static void after(void *arg, int result)
{
    (void)arg;
    see("after", result);
    rounds++;
}

static void resumed(void *arg)
{
    (void)arg;
    see("resumed", roost_checkpoint() == -EBUSY);
    rounds++;
}

static int task_count(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 ? (int)st.st_nlink - 2 : 0;
}

static int hooks(void)
{
    static char name[] = "before";
    make_image_by_signal();
    wait_for_watcher();
    if (roost_checkpoint_hooks(before, after, resumed, name) != 0 ||
        roost_checkpoint_file("hooks.1") != 0) {
        return 1;
    }
    while (task_count() != 2) { /* the thread that waited for signals before has ended */
        wait_a_little();
    }
    int rc = roost_checkpoint();
    printf("%d: %s\n", rc, seen);
    (void)roost_checkpoint_file("hooks.2");
    int now = rounds;
    (void)kill(getpid(), SIGUSR2);
    while (rounds == now) {
        wait_a_little();
    }
    printf("%s\n", seen);
    return 0;
}

/* ---- waits: an image in the middle of each, of which they see nothing */

static volatile int stage;
static int ends[2];

/* The first thread is in its wait. */
static void wait_until_asleep(int wanted)
{
    char text[512] = "";
    while (stage != wanted || strstr(text, ") S ") == NULL) {
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
        FILE *file = fopen(path, "r");
        text[file != NULL ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
        if (file != NULL) {
            (void)fclose(file);
        }
        wait_a_little();
    }
}

static void *interrupt(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 5; i++) {
        wait_until_asleep(i);
        make_image_by_signal();
        if (i < 5) {
            (void)!write(ends[1], "x", 1);
        }
    }
    return NULL;
}

static void report(const char *what, long result, long wanted)
{
    printf("%s: %s\n", what, result == wanted ? "right" : strerror(errno));
}

static int waits(void)
{
    pthread_t thread;
    char byte;
    struct timespec began, ended;
    const struct timespec nap = {.tv_nsec = 600000000};
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, interrupt, NULL) != 0) {
        return 1;
    }
    stage = 1;
    report("read", read(ends[0], &byte, 1), 1);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    stage = 2;
    report("poll", poll(&end, 1, 60000), 1);
    (void)!read(ends[0], &byte, 1);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    stage = 3;
    report("select", select(ends[0] + 1, &set, NULL, NULL, NULL), 1);
    (void)!read(ends[0], &byte, 1);
    stage = 4;
    report("fread", (long)fread(&byte, 1, 1, fdopen(ends[0], "r")), 1);
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    stage = 5;
    report("nanosleep", nanosleep(&nap, NULL), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    double slept =
        (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
    printf("it slept %s\n", slept >= 0.6 ? "for its time" : "too little");
    (void)pthread_join(thread, NULL);
    return 0;
}

/* ---- mask: a program that unblocks everything is not ended by the signals */

static int mask(void)
{
    sigset_t none, now;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    wait_for_watcher();
    (void)sigprocmask(SIG_SETMASK, NULL, &now);
    for (int i = 0; i < 10 && !sigismember(&now, SIGUSR2); i++) {
        make_image_by_signal(); /* the library's thread may have taken it before this one */
        (void)sigprocmask(SIG_SETMASK, NULL, &now);
    }
    printf("blocked again: %d %d\n", sigismember(&now, SIGUSR2), sigismember(&now, SIGTSTP));
    make_image_by_signal();
    return 0;
}

/* ---- sections: no image is of their middle */

static volatile int inside, wrong;

static void look(void *arg)
{
    (void)arg;
    wrong += inside;
}

/* Nobody enters one between this and the image. */
static void look_long(void *arg)
{
    for (int i = 0; i < 10; i++) {
        look(arg);
        wait_a_little();
    }
}

static volatile int enough;

static void *enter_often(void *arg)
{
    (void)arg;
    while (!enough) {
        roost_checkpoint_disable();
        inside = 1;
        wait_a_little();
        inside = 0;
        roost_checkpoint_enable();
    }
    return NULL;
}

static void take_among_sections(void)
{
    pthread_t thread;
    (void)roost_checkpoint_hooks(look_long, NULL, NULL, NULL);
    (void)pthread_create(&thread, NULL, enter_often, NULL);
    for (int i = 0; i < 3; i++) {
        wrong += roost_checkpoint() < 0;
    }
    enough = 1;
    (void)pthread_join(thread, NULL);
}

/* While an image is written the program runs on, and may enter sections: that is in no image. */
static volatile long entered, entered_before, entered_meanwhile;

static void *enter_always(void *arg)
{
    (void)arg;
    while (!enough) {
        roost_checkpoint_disable();
        entered++;
        roost_checkpoint_enable();
    }
    return NULL;
}

static void note_entered(void *arg)
{
    (void)arg;
    entered_before = entered;
}

static void see_entered(void *arg, int result)
{
    (void)arg;
    wrong += result < 0;
    entered_meanwhile += entered - entered_before;
}

static void enter_while_written(void)
{
    pthread_t thread;
    char *heap = malloc(32 * HEAP);
    memset(heap, 1, 32 * HEAP);
    enough = 0;
    (void)roost_checkpoint_hooks(note_entered, see_entered, NULL, NULL);
    (void)pthread_create(&thread, NULL, enter_always, NULL);
    for (int i = 0; i < 20 && entered_meanwhile == 0; i++) {
        (void)roost_checkpoint();
    }
    enough = 1;
    (void)pthread_join(thread, NULL);
    wrong += entered_meanwhile == 0;
    free(heap);
}

static int sections(void)
{
    (void)roost_checkpoint_hooks(look, NULL, NULL, NULL);
    for (int i = 0; i < 5; i++) {
        long images = log_bytes();
        roost_checkpoint_disable();
        inside = 1;
        (void)kill(getpid(), SIGUSR2);
        wrong += roost_checkpoint() != -EBUSY;
        roost_checkpoint_disable();
        roost_checkpoint_enable();
        for (int j = 0; j < 10; j++) {
            wait_a_little();
        }
        wrong += log_bytes() != images;
        inside = 0;
        roost_checkpoint_enable();
        wait_for_image(images);
    }
    take_among_sections();
    enter_while_written();
    printf("wrong: %d\n", wrong);
    return 0;
}

/* ---- a child, and that there is no other */

static volatile int children;

static void count_child(int signal)
{
    (void)signal;
    children++;
}

static int child(void)
{
    int status = 0, pipes[2];
    char byte;
    struct sigaction action = {.sa_handler = count_child, .sa_flags = SA_RESTART};
    (void)sigaction(SIGCHLD, &action, NULL);
    if (pipe(pipes) != 0) {
        return 1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        int rc = roost_checkpoint();
        (void)close(pipes[1]);
        _exit(rc == -EPERM && read(pipes[0], &byte, 1) == 0 ? 5 : 6);
    }
    (void)close(pipes[0]);
    int rc = roost_checkpoint();
    int early = children;
    pid_t none = waitpid(-1, &status, WNOHANG);
    (void)close(pipes[1]);
    if (waitpid(-1, &status, 0) != pid) {
        return 1;
    }
    printf("%s: early %d %d, then %d, %d in all\n", rc < 0 ? roost_checkpoint_error() : "made",
           early, (int)none, WEXITSTATUS(status), children);
    return waitpid(-1, &status, 0) == -1 && errno == ECHILD ? 0 : 1;
}

/* ---- a process whose parent has ended belongs to the job, too */

static int orphan(void)
{
    int to[2], from[2];
    char byte = 0;
    if (pipe(to) != 0 || pipe(from) != 0) {
        return 1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            (void)close(to[1]);
            _exit(read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1 ? 0 : 1);
        }
        _exit(0);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    (void)waitpid(pid, NULL, 0);
    int rc = roost_checkpoint();
    (void)!write(to[1], "o", 1);
    (void)!read(from[0], &byte, 1);
    printf("%s %c\n", rc < 0 ? roost_checkpoint_error() : "made", byte);
    return 0;
}

/* ---- processes that come and go meanwhile */

static void *spawn_often(void *arg)
{
    char *const argv[] = {"true", NULL};
    (void)arg;
    while (!enough) {
        pid_t pid;
        if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL) == 0) {
            (void)waitpid(pid, NULL, 0);
        }
    }
    return NULL;
}

static int spawns(void)
{
    pthread_t thread;
    int good = 0;
    (void)pthread_create(&thread, NULL, spawn_often, NULL);
    for (int i = 0; i < 10; i++) {
        int rc = roost_checkpoint();
        good += rc >= 0;
        if (rc < 0) {
            printf("%s\n", roost_checkpoint_error());
        }
    }
    enough = 1;
    (void)pthread_join(thread, NULL);
    printf("%d of 10\n", good);
    return 0;
}

/* ---- threads that all ask at once */

static void *ask(void *arg)
{
    int *ret = arg;
    *ret = roost_checkpoint();
    return NULL;
}

static int threads(void)
{
    pthread_t all[4];
    int results[4], good = 0;
    for (int i = 0; i < 4; i++) {
        (void)pthread_create(&all[i], NULL, ask, &results[i]);
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(all[i], NULL);
        good += results[i] == 0 || results[i] == 1;
    }
    printf("%d of 4\n", good);
    return 0;
}

/* ---- a handler that asks, too: of the thread that makes an image, or of one that does not */

static volatile int refused, made;

static void ask_again(int signal)
{
    (void)signal;
    roost_checkpoint_disable();
    roost_checkpoint_enable();
    int rc = roost_checkpoint();
    refused += rc == -EBUSY;
    made += rc >= 0;
    wrong += rc < 0 && rc != -EBUSY;
}

static int handler(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    struct sigaction action = {.sa_handler = ask_again};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)raise(SIGALRM);
    int alone = made;
    for (int i = 0; i < 200 && refused == 0; i++) {
        (void)setitimer(ITIMER_REAL, &soon, NULL);
        wrong += roost_checkpoint() < 0;
    }
    (void)roost_checkpoint_hooks(NULL, NULL, NULL, NULL);
    printf("alone: %d wrong: %d refused: %d\n", alone, wrong, refused > 0);
    return 0;
}

static int interval(void)
{
    make_image_by_signal();
    wait_for_watcher();
    long images = log_bytes();
    roost_checkpoint_interval(1);
    wait_for_image(images);
    printf("made in time\n");
    return 0;
}

/* ---- a process that may not be traced */

static int untraced(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0);
    int rc = roost_checkpoint();
    printf("%d %s\n", rc == -EPERM, roost_checkpoint_error());
    return 0;
}

/* ---- its own redirections stay its own */

static int redirects(void)
{
    int fd = open("mine", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    (void)dup2(fd, STDOUT_FILENO);
    int rc = roost_checkpoint();
    printf("%d %s\n", rc, roost_checkpoint_error());
    return 0;
}

/* ---- what is open here is not open in the helper, nor are there others of ours in it */

static pid_t child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%d", &child) != 1) {
            child = 0;
        }
        (void)fclose(file);
    }
    return child;
}

/* The helper executes its program: 1; it has that file: 2. */
static int look_at(pid_t helper, const char *file)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)helper);
    ssize_t length = readlink(path, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    if (strstr(text, "roost-checkpoint") == NULL) {
        return 0;
    }
    for (int fd = 0; fd < 64; fd++) {
        (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)helper, fd);
        length = readlink(path, text, sizeof text - 1);
        text[length > 0 ? length : 0] = '\0';
        if (strcmp(text, file) == 0) {
            return 2;
        }
    }
    return 1;
}

static void *watch_helper(void *arg)
{
    static int all;
    while (!enough) {
        pid_t waiter = child_of(getpid());
        pid_t helper = waiter != 0 ? child_of(waiter) : 0;
        all |= helper != 0 ? look_at(helper, arg) : 0;
    }
    return &all;
}

static int descriptors(void)
{
    char name[64], path[64];
    void *all = NULL;
    pthread_t thread;
    char *heap = malloc(64 * HEAP);
    memset(heap, 1, 64 * HEAP);
    (void)!pipe(ends);
    (void)dup2(ends[1], STDERR_FILENO);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    ssize_t length = readlink(path, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    (void)pthread_create(&thread, NULL, watch_helper, name);
    do { /* until one was seen: the image takes its time */
        if (roost_checkpoint() < 0) {
            printf("%s\n", roost_checkpoint_error());
            return 1;
        }
        enough = 1;
        (void)pthread_join(thread, &all);
        enough = 0;
        (void)pthread_create(&thread, NULL, watch_helper, name);
    } while (*(int *)all == 0);
    enough = 1;
    printf("%d\n", *(int *)all);
    free(heap);
    return 0;
}

static char *own_name;

/* What it starts is linked so, too: a part of this job, without images of its own, by whatever
 * asks; what takes its place is not. */
static int heirs(void)
{
    char *const part[] = {own_name, "part", NULL}, *const place[] = {own_name, "place", NULL};
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        (void)execv("/proc/self/exe", part);
        _exit(9);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        return 1;
    }
    (void)execv("/proc/self/exe", place);
    return 2;
}

static int part(void)
{
    (void)printf("part: %d\n", roost_checkpoint());
    return 0;
}

static int place(void)
{
    (void)printf("place: %d\n", roost_checkpoint());
    return 0;
}

static int nowhere(void)
{
    (void)roost_checkpoint_file("not/there");
    int rc = roost_checkpoint();
    printf("%d %s\n", rc == -ENOENT,
           strstr(roost_checkpoint_error(), "not/there") != NULL ? "named" : "?");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } ALL[] = {{"hooks", hooks},         {"waits", waits},
               {"mask", mask},           {"sections", sections},
               {"interval", interval},   {"nowhere", nowhere},
               {"heirs", heirs},         {"part", part},
               {"place", place},         {"child", child},
               {"threads", threads},     {"orphan", orphan},
               {"spawns", spawns},       {"untraced", untraced},
               {"redirects", redirects}, {"descriptors", descriptors},
               {"handler", handler}};
    own_name = argv[0];
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3 && strcmp(argv[1], "generations") == 0) {
        return generations(strtol(argv[2], NULL, 10));
    }
    for (size_t i = 0; argc == 2 && i < sizeof ALL / sizeof ALL[0]; i++) {
        if (strcmp(argv[1], ALL[i].name) == 0) {
            return ALL[i].run();
        }
    }
    return 2;
}
