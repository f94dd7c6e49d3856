/* tests/integration/jobs/calls.c DIRECTORY [wrapped] - calls of the C library that make others by
 * themselves: what they do there is what they do on the files themselves.  Says "all right".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static void must_at(bool good, const char *what, int line)
{
    if (!good) {
        fprintf(stderr, "calls.c:%d: %s: %s\n", line, what, strerror(errno));
        exit(1);
    }
}
#define MUST(CONDITION) must_at(CONDITION, #CONDITION, __LINE__)

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    MUST(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool has(const char *name, const char *text)
{
    char line[256] = "";
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(line, 1, sizeof line - 1, file);
    line[length] = '\0';
    fclose(file);
    return strcmp(line, text) == 0;
}

static void names_that_are_made_up(void)
{
    char file[] = "fooXXXXXX", tail[] = "fooXXXXXX.txt", dir[] = "dirXXXXXX", bad[] = "fooXXX";
    struct stat st;
    int fd = mkstemp(file);
    MUST(fd >= 0 && write(fd, "x", 1) == 1 && stat(file, &st) == 0 && st.st_size == 1);
    MUST((st.st_mode & 0777) == 0600 && strcmp(file, "fooXXXXXX") != 0 && close(fd) == 0);
    fd = mkostemps(tail, 4, O_APPEND);
    MUST(fd >= 0 && strcmp(tail + 9, ".txt") == 0 && close(fd) == 0 && unlink(tail) == 0);
    MUST(mkdtemp(dir) == dir && stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && rmdir(dir) == 0);
    MUST(mkstemp(bad) == -1 && errno == EINVAL && unlink(file) == 0);
}

static int seen_files, seen_directories, seen_after, seen_links;

static int see(const char *path, const struct stat *st, int kind, struct FTW *about)
{
    seen_files += kind == FTW_F;
    seen_directories += kind == FTW_D;
    seen_after += kind == FTW_DP;
    seen_links += kind == FTW_SL;
    MUST(strcmp(path + about->base, "") != 0 && (kind != FTW_F || st->st_size == 2));
    return strcmp(path + about->base, "stop") == 0 ? 7 : 0;
}

static int see_plainly(const char *path, const struct stat *st, int kind)
{
    (void)path;
    (void)st;
    seen_files += kind == FTW_F;
    return 0;
}

static int is_text(const struct dirent *entry)
{
    return strstr(entry->d_name, ".t") != NULL;
}

static void walks(void)
{
    glob_t found;
    struct dirent **names, entry, *next;
    MUST(mkdir("w", 0777) == 0 && mkdir("w/in", 0777) == 0);
    put("w/a.t", "1\n");
    put("w/b.t", "2\n");
    put("w/in/c.t", "3\n");
    MUST(symlink("in", "w/link") == 0);
    MUST(glob("w/*.t", 0, NULL, &found) == 0 && found.gl_pathc == 2);
    MUST(strcmp(found.gl_pathv[0], "w/a.t") == 0 && strcmp(found.gl_pathv[1], "w/b.t") == 0);
    globfree(&found);
    MUST(glob("w/{in,none}/[c-d].?", GLOB_BRACE, NULL, &found) == 0 && found.gl_pathc == 1);
    globfree(&found);
    MUST(glob("w/none*", 0, NULL, &found) == GLOB_NOMATCH);
    int count = scandir("w", &names, is_text, alphasort);
    MUST(count == 2 && strcmp(names[0]->d_name, "a.t") == 0);
    while (count > 0) {
        free(names[--count]);
    }
    free(names);
    MUST(nftw("w", see, 10, FTW_PHYS) == 0);
    MUST(seen_files == 3 && seen_directories == 2 && seen_links == 1);
    MUST(nftw("w", see, 10, FTW_PHYS | FTW_DEPTH) == 0 && seen_after == 2);
    MUST(nftw("w", see, 10, 0) == 0 && seen_files == 9); /* a directory once */
    MUST(ftw("w", see_plainly, 10) == 0 && seen_files == 12);
    put("w/in/stop", "4\n");
    MUST(nftw("w/in", see, 10, 0) == 7 && nftw("none", see, 10, 0) == -1 && errno == ENOENT);
    DIR *dir = opendir("w/in");
    int entries = 0;
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    while (readdir_r(dir, &entry, &next) == 0 && next != NULL) {
        entries++;
    }
    MUST(entries == 4 && closedir(dir) == 0);
}

static void what_is_known_of_names(void)
{
    struct statvfs about;
    struct statfs plain;
    struct stat st;
    const struct timeval times[2] = {{5, 0}, {6, 7}};
    int fd = open("w", O_RDONLY | O_DIRECTORY);
    MUST(statvfs("w", &about) == 0 && about.f_bsize > 0 && about.f_blocks > 0);
    MUST(fstatvfs(fd, &about) == 0 && fstatfs(fd, &plain) == 0 && plain.f_namelen >= 255);
    MUST(statvfs("none", &about) == -1 && errno == ENOENT && close(fd) == 0);
    MUST(mkfifo("w/fifo", 0666) == 0 && stat("w/fifo", &st) == 0 && S_ISFIFO(st.st_mode));
    MUST(mkfifo("w/fifo", 0666) == -1 && errno == EEXIST);
    MUST(lutimes("w/link", times) == 0 && lstat("w/link", &st) == 0 && st.st_mtime == 6);
    char *path = canonicalize_file_name("w/link/../a.t");
    char *here = get_current_dir_name();
    MUST(path != NULL && here != NULL && strncmp(path, here, strlen(here)) == 0);
    MUST(strcmp(path + strlen(here), "/w/a.t") == 0);
    free(path);
    free(here);
    MUST(pathconf("w", _PC_NAME_MAX) == 255);
}

static void copies(void)
{
    off_t at = 1;
    put("from", "0123456789");
    int from = open("from", O_RDONLY), to = open("to", O_RDWR | O_CREAT | O_TRUNC, 0666);
    MUST(copy_file_range(from, &at, to, NULL, 3, 0) == 3 && at == 4);
    MUST(lseek(from, 0, SEEK_CUR) == 0 && lseek(to, 0, SEEK_CUR) == 3);
    MUST(sendfile(to, from, NULL, 4) == 4 && lseek(from, 0, SEEK_CUR) == 4);
    at = 8;
    MUST(sendfile(to, from, &at, 100) == 2 && at == 10 && lseek(from, 0, SEEK_CUR) == 4);
    MUST(close(from) == 0 && close(to) == 0 && has("to", "123012389"));
}

static void programs(void)
{
    static char *const CAT[] = {"cat", NULL};
    static char *const NONE[] = {"none", NULL};
    posix_spawn_file_actions_t actions;
    char line[64] = "";
    pid_t child;
    int status;
    put("in", "one\ntwo\n");
    MUST(posix_spawn_file_actions_init(&actions) == 0);
    MUST(posix_spawn_file_actions_addopen(&actions, 0, "in", O_RDONLY, 0) == 0);
    MUST(posix_spawn_file_actions_addopen(&actions, 1, "out", O_WRONLY | O_CREAT, 0666) == 0);
    MUST(posix_spawnp(&child, "cat", &actions, NULL, CAT, environ) == 0);
    MUST(waitpid(child, &status, 0) == child && status == 0 && has("out", "one\ntwo\n"));
    MUST(posix_spawn_file_actions_destroy(&actions) == 0);
    MUST(posix_spawn(&child, "/none", NULL, NULL, NONE, environ) == ENOENT);

    FILE *file = fopen("told", "w");
    MUST(fputs("written before", file) >= 0 && fflush(file) == 0);
    MUST(system("cat told >told.out; exit 3") == W_EXITCODE(3, 0));
    MUST(has("told.out", "written before") && system(NULL) != 0);
    MUST(fputs("!", file) >= 0 && fclose(file) == 0 && has("told", "written before!"));
    FILE *pipe = popen("cat told", "r");
    MUST(pipe != NULL && fgets(line, sizeof line, pipe) != NULL && pclose(pipe) == 0);
    MUST(strcmp(line, "written before!") == 0);
}

/* Found by no name of the machine where it runs, they are taken from where the files are. */
static void programs_that_are_there(void)
{
    put("tool", "#!/bin/sh -e\necho \"$0 $# $1\" >tool.out\n");
    MUST(system(
             "cp /bin/echo double && chmod +x tool && ./tool a b && ./double hello >double.out") ==
         0);
    MUST(has("tool.out", "./tool 2 a\n") && has("double.out", "hello\n"));
    MUST(chmod("tool", 0600) == 0 && system("./tool 2>/dev/null") == W_EXITCODE(126, 0));
}

/* What it has written is there for whoever hears of it, however that is. */
static void what_a_child_has_written(void)
{
    char c, text[8] = "";
    int ends[2], fd, status;
    for (int i = 0; i < 50; i++) {
        MUST(pipe(ends) == 0 && snprintf(text, sizeof text, "%d", i) > 0);
        pid_t child = fork();
        if (child == 0) {
            fd = open("news", O_WRONLY | O_CREAT | O_TRUNC, 0666);
            if (write(fd, text, strlen(text)) < 0 || (i % 2 == 0 && write(ends[1], "x", 1) != 1)) {
                _exit(1);
            }
            if (i % 4 == 0) {
                pause();
            }
            _exit(0);
        }
        if (i % 2 == 0) {
            MUST(read(ends[0], &c, 1) == 1);
        } else {
            MUST(waitpid(child, &status, 0) == child && status == 0);
        }
        MUST(has("news", text));
        if (i % 2 == 0) {
            (void)kill(child, SIGKILL);
            MUST(waitpid(child, &status, 0) == child);
        }
        close(ends[0]);
        close(ends[1]);
    }
}

static void *wait_in_read(void *arg)
{
    char c;
    (void)read(*(const int *)arg, &c, 1);
    return NULL;
}

static void a_thread_that_reads_is_cancelled(void)
{
    pthread_t thread = 0;
    void *how = NULL;
    int ends[2];
    MUST(pipe(ends) == 0 && pthread_create(&thread, NULL, wait_in_read, &ends[0]) == 0);
    MUST(pthread_cancel(thread) == 0 && pthread_join(thread, &how) == 0);
    MUST(how == PTHREAD_CANCELED && close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void many_programs_keep_nothing_open(void)
{
    for (int i = 0; i < 30; i++) {
        FILE *file = fopen("kept", "w");
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        MUST(file != NULL && waitpid(child, NULL, 0) == child && fclose(file) == 0);
    }
}

static void what_is_refused(void)
{
    char *const names[] = {"w", NULL};
    int fd = open("in", O_RDWR), watch = inotify_init1(IN_CLOEXEC);
    MUST(fts_open(names, FTS_PHYSICAL, NULL) == NULL && errno == EOPNOTSUPP);
    MUST(inotify_add_watch(watch, "w", IN_CREATE) == -1 && errno == EOPNOTSUPP);
    MUST(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENODEV);
    MUST(fcntl(fd, F_SETFL, O_APPEND) == -1 && errno == EINVAL);
    MUST(nftw("w", see, 10, FTW_CHDIR) == -1 && errno == EOPNOTSUPP);
    MUST(close(fd) == 0 && close(watch) == 0);
}

int main(int argc, char **argv)
{
    MUST(argc > 1 && chdir(argv[1]) == 0);
    names_that_are_made_up();
    walks();
    what_is_known_of_names();
    copies();
    programs();
    programs_that_are_there();
    what_a_child_has_written();
    a_thread_that_reads_is_cancelled();
    many_programs_keep_nothing_open();
    if (argc > 2) {
        what_is_refused();
    }
    puts("all right");
    return 0;
}
