/* Processes of many families: a group whose leader has ended, daemons, one whose parent has ended,
 * one that is stopped and so is its child, ones that have ended, some of which lead others still.
 * Each of them must stay what it is, with no open files but its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMBERS 9

static int verdicts[2], gates[2];
static volatile pid_t *members; /* by their names, once they are there */

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s: %m\n", what);
        (void)fflush(stdout);
        _exit(1);
    }
}

static char state_of(pid_t pid)
{
    char path[64], text[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    must(file != NULL && fgets(text, sizeof text, file) != NULL, path);
    (void)fclose(file);
    return strrchr(text, ')')[2];
}

/* Who was held stops again by itself, a moment after he was let go. */
static int is_stopped(pid_t pid)
{
    for (int i = 0; i < 5000 && state_of(pid) != 'T'; i++) {
        (void)usleep(1000);
    }
    return state_of(pid) == 'T';
}

/* Until it is stopped. */
static void stop(pid_t pid)
{
    int status;
    must(kill(pid, SIGSTOP) == 0 && waitpid(pid, &status, WUNTRACED) == pid, "stop");
}

static void go_on(pid_t pid)
{
    int status;
    must(is_stopped(pid) && waitpid(pid, &status, WUNTRACED | WNOHANG) == 0, "stopped");
    must(kill(pid, SIGCONT) == 0, "go on");
}

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    must(folder != NULL, "opendir");
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

/* Waits for the gate, and tells whether it is still who it was. */
static _Noreturn void be(char name)
{
    pid_t pid = getpid(), group = getpgrp(), session = getsid(0);
    int files = open_files();
    char byte = '.';
    must(write(verdicts[1], &byte, 1) == 1, "write"); /* here I am */
    members[name - 'a'] = pid;
    must(read(gates[0], &byte, 1) == 1, "gate");
    int same =
        pid == getpid() && group == getpgrp() && session == getsid(0) && files == open_files();
    if (name == 'f') {
        go_on(members['i' - 'a']);
    }
    byte = same ? name : '!';
    must(write(verdicts[1], &byte, 1) == 1, "write");
    _exit(0);
}

static pid_t child(void)
{
    pid_t pid = fork();
    must(pid >= 0, "fork");
    return pid;
}

static void wait_for(pid_t pid)
{
    must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

/* a: its group's leader has ended. */
static void make_group(void)
{
    pid_t leader = child();
    if (leader == 0) {
        must(setpgid(0, 0) == 0, "setpgid");
        (void)pause();
    }
    (void)setpgid(leader, leader);
    if (child() == 0) {
        must(setpgid(0, leader) == 0, "join");
        be('a');
    }
    char byte;
    must(read(verdicts[0], &byte, 1) == 1, "read");
    must(kill(leader, SIGKILL) == 0, "kill");
    wait_for(leader);
}

/* b, c: in a session whose leader has ended; c in another group of it.  Their parent has, too. */
static void make_daemons(void)
{
    pid_t leader = child();
    if (leader == 0) {
        must(setsid() > 0, "setsid");
        if (child() == 0) {
            be('b');
        }
        if (child() == 0) {
            must(setpgid(0, 0) == 0, "setpgid");
            be('c');
        }
        _exit(0);
    }
    wait_for(leader);
}

/* d leads a session, e is in it, whose parent has ended. */
static void make_orphan(void)
{
    if (child() == 0) {
        must(setsid() > 0, "setsid");
        pid_t parent = child();
        if (parent == 0) {
            if (child() == 0) {
                be('e');
            }
            _exit(0);
        }
        wait_for(parent);
        be('d');
    }
}

static void wait_for_zombie(pid_t pid)
{
    siginfo_t info;
    must(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
}

/* g, h: in a group, and a session, whose leaders have ended, and nobody has asked for these yet. */
static void make_followers(pid_t leaders[2])
{
    char byte;
    leaders[0] = child();
    if (leaders[0] == 0) {
        must(setpgid(0, 0) == 0, "setpgid");
        (void)pause();
    }
    (void)setpgid(leaders[0], leaders[0]);
    if (child() == 0) {
        must(setpgid(0, leaders[0]) == 0, "join");
        be('g');
    }
    must(read(verdicts[0], &byte, 1) == 1, "read");
    pid_t member = child(); /* has ended as one of the group, without leading it */
    if (member == 0) {
        must(setpgid(0, leaders[0]) == 0, "join");
        _exit(6);
    }
    wait_for_zombie(member);
    must(kill(leaders[0], SIGKILL) == 0, "kill");
    leaders[1] = child();
    if (leaders[1] == 0) {
        must(setsid() > 0, "setsid");
        if (child() == 0) {
            be('h');
        }
        _exit(5);
    }
    wait_for_zombie(leaders[0]);
    wait_for_zombie(leaders[1]);
}

/* f, which will be stopped, and its child i, which is already. */
static pid_t make_stopped(void)
{
    pid_t pid = child();
    if (pid == 0) {
        pid_t own = child();
        if (own == 0) {
            be('i');
        }
        while (members['i' - 'a'] == 0) {
            (void)usleep(1000);
        }
        stop(own);
        be('f');
    }
    return pid;
}

static int by_value(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

int main(void)
{
    char said[MEMBERS + 1] = "";
    unsigned long sum = 0;
    pid_t leaders[2];
    int status, killed = 0, sixes = 0;
    must(pipe(verdicts) == 0 && pipe(gates) == 0, "pipes");
    members = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(members != MAP_FAILED, "mmap");
    make_group();
    make_followers(leaders);
    make_daemons();
    make_orphan();
    pid_t stopped = make_stopped();
    for (int i = 2; i < MEMBERS; i++) { /* two were waited for */
        char byte;
        must(read(verdicts[0], &byte, 1) == 1 && byte == '.', "start");
    }
    stop(stopped);
    pid_t ended = child();
    if (ended == 0) {
        _exit(42);
    }
    for (unsigned long i = 0; i < 700000000; i++) { /* meanwhile it is interrupted */
        sum = sum * 31 + i;
    }
    must(is_stopped(members['i' - 'a']), "stopped by another");
    go_on(stopped);
    must(write(gates[1], ".........", MEMBERS) == MEMBERS, "gate");
    for (int i = 0; i < MEMBERS; i++) {
        must(read(verdicts[0], &said[i], 1) == 1, "verdict");
    }
    must(waitpid(ended, &status, 0) == ended && WEXITSTATUS(status) == 42, "ended");
    wait_for(stopped);
    for (int i = 0; i < 3; i++) { /* the leader, who ended as it, and g */
        must(waitpid(-leaders[0], &status, 0) > 0, "who was in the group");
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        sixes += WIFEXITED(status) && WEXITSTATUS(status) == 6;
    }
    must(killed == 1 && sixes == 1, "how they ended");
    must(waitpid(leaders[1], &status, 0) == leaders[1] && WEXITSTATUS(status) == 5, "led");
    qsort(said, MEMBERS, 1, by_value);
    (void)printf("%s %lu\n", said, sum);
    return 7;
}
