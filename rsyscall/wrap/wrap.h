/* rsyscall/wrap/wrap.h - declarations shared by the parts of a library that replaces the C
 * library's file calls in a program whose files are on another machine.
 *
 * The problem: on some machines ordinary users may not create namespaces, so that no file system
 * can be mounted for the program (rsyscall_fuse/).  The program is linked with this object, or
 * preloads it, and its calls come here first.  Calls about files of this machine go on to the
 * kernel.  All others are sent to a door (rsyscall_fuse/door.c), a local server on a Unix socket,
 * in the protocol of remote system calls.  The door does TLS, so no cryptography and no secret is
 * in the program.
 *
 * A remote file's descriptor is a real one: that of a memfd whose contents name the remote file
 * (struct wrap_record).  So the kernel handles dup(), fork(), exec, close-on-exec, passed
 * descriptors, and offsets shared by several processes, and no table of the library can differ from
 * the kernel's.  A program started by exec reads its descriptors to learn what is open.
 *
 * Rejected: a descriptor table in the library (the kernel would give out the same numbers again,
 * and exec would lose them); SIGSYS for each call (every call would cost a signal); TLS in the
 * program (it may use TLS itself, in another version).
 *
 * The descriptor is not open for reading, and the memfd is sealed against writing.  So a call of
 * the C library that is not wrapped fails on such a descriptor (EBADF, EPERM), and neither reads
 * wrong data nor loses data silently.
 *
 * Invariants: there is one lock, held with all signals blocked, so that a signal handler may use
 * the wrapped calls as POSIX allows.  Under the lock, only mmap() allocates and only the door is
 * waited for.  Nothing prints or ends the program.  Waiting for the door is like waiting for a
 * disk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_WRAP_WRAP_H
#define RSYSCALL_WRAP_WRAP_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "rsyscall/rsys.h"

#define WRAP_FDS_MAX   4096 /* descriptors with this number or a greater one are always local */
#define WRAP_FILES_MAX 1024 /* most remote files that one process has open at once */
#define WRAP_LINKS_MAX 40   /* most symbolic links followed in one path, as in the kernel */
/* most bytes of a path, with the terminating zero */
#define WRAP_PATH_SIZE  (RSYS_PATH_MAX + 1)
#define WRAP_WRITES_MAX 8 /* most writes under way at once */
#define WRAP_AHEADS_MAX 4
#define WRAP_OPEN_DATA  ((size_t)16 << 10) /* bytes of a file that are requested with its OPEN */
/* Nanoseconds after the reply to OPEN within which the first read of the file may use the data in
 * that reply; a first read after that asks the server again. */
#define WRAP_FRESH_NS   1000000
#define WRAP_LOCALS_MAX 32
#define WRAP_TAKEN_MAX  256 /* most locks that this process remembers, to take them again */

#define WRAP_UMASK_KNOWN 01000U
/* Environment variable that tells a program after exec the number of the socket to the door. */
#define WRAP_KEPT_NAME "ROOST_REMOTE_KEPT"
/* In the value of the variable WRAP_KEPT_NAME, after the socket's number: the program before exec
 * had locks. */
#define WRAP_KEPT_LOCKS 'l'
/* In the value of the variable WRAP_KEPT_NAME, before the number of each descriptor on whose file
 * the program before exec had locks. */
#define WRAP_KEPT_TAKEN ','

/* rsys_request.owner for a lock by F_OFD_SETLK: this bit, plus the open file's handle. */
#define WRAP_OWNED_BY_FILE ((uint64_t)1 << 63)

#define WRAP_EXPORT __attribute__((visibility("default")))

/* Value of wrap_record.magic. */
#define WRAP_MAGIC 0x31666d7274736f6fULL
/* The contents of the memfd that stands for a remote file: which file it is. */
struct wrap_record {
    uint64_t magic;
    uint64_t handle;
    uint64_t dev, ino, birth;
    uint32_t flags; /* flags of open(), without those that act only on opening (O_CREAT ...) */
    uint32_t mode;  /* file type, as in st_mode */
    char path[WRAP_PATH_SIZE];
};

enum wrap_ahead_state { WRAP_AHEAD_NONE, WRAP_AHEAD_ASKED, WRAP_AHEAD_HERE };

struct wrap_buffer {
    unsigned char *data; /* RSYS_DATA_MAX bytes of memory; NULL: not allocated yet */
    uint64_t offset;
    size_t length;
};

/* An open remote file as this process knows it. */
struct wrap_file {
    uint64_t handle;
    uint64_t dev, ino, birth;
    uint32_t flags, mode;
    unsigned refs; /* number of this process's descriptors of the file; 0: this entry is free */
    /* True: other processes may have the open file, too.  Then its position is the offset of the
     * memfd that stands for the file, and the handle is not closed. */
    bool shared;
    uint64_t offset;   /* position in the file; not used if shared */
    uint64_t read_end; /* where the last read ended, to recognize sequential reading */
    size_t window;     /* bytes to request at once in sequential reading */
    /* Until this time (CLOCK_MONOTONIC, ns), data that came with the reply to OPEN may be used; 0:
     * there is no such data. */
    uint64_t fresh_ns;
    /* value of wrap_all.heard (a count of reads of local files) when data came with the reply to
     * OPEN */
    unsigned heard;
    bool locked;        /* true: this process may have range locks on the file */
    bool locks_unknown; /* true: locks on the file may exist that wrap_all.taken does not list */
    /* True: locks on the file could not be taken again from a new door, so every use of the file
     * fails with ESTALE. */
    bool lost;
    /* -errno of an earlier write that the program believes done, to be reported once; 0: none. */
    int error;
    struct wrap_buffer now, next;
    enum wrap_ahead_state ahead;
    uint16_t ahead_slot;
    int fd; /* a descriptor of the file, by which the kernel is asked for the shared offset */
};

/* Kind of a lock: of a process (F_SETLK), of an open file on a range (F_OFD_SETLK), or of an open
 * file as a whole (flock()). */
enum wrap_lock_kind { WRAP_LOCK_OF_PROCESS, WRAP_LOCK_OF_FILE, WRAP_LOCK_OF_ALL };
/* A lock that this process has taken. */
struct wrap_taken {
    struct wrap_file *file;
    enum wrap_lock_kind kind; /* by which call it was taken: fcntl(), F_OFD_SETLK or flock() */
    uint32_t type;
    uint64_t start, end; /* first and last locked byte; end UINT64_MAX: to the end of the file */
};

/* The file that a name means, while that name is being resolved. */
struct wrap_place {
    /* True: the file is on this machine, to be opened by the kernel: by `path` or, if path is "",
     * by the original name. */
    bool local;
    bool nofollow;             /* true: a symbolic link as the last name is the error -ELOOP */
    unsigned links;            /* symbolic links followed so far */
    uint64_t handle;           /* handle of the root in which the file is, if not local */
    size_t skip;               /* number of bytes of path before the part that is below the root */
    char path[WRAP_PATH_SIZE]; /* absolute path, without "." and ".." */
};

/* The state of this library in one process. */
struct wrap_state {
    bool begun, on;
    bool renewing;  /* true: connecting again after the connection was cut */
    int fd;         /* the socket to the door; negative: none */
    int childs;     /* socket for the child that fork() is about to make, or -1 */
    int kept;       /* socket inherited from the program before exec, or -1 */
    char door[108]; /* address of the door's socket */
    uint32_t slots; /* number of request slots that the door granted */
    size_t data_max;
    uint32_t seq[RSYS_SLOTS_MAX];
    /* Counts the program's reads of local files (such as pipes): from what it reads, the program
     * may learn that another program has changed a file. */
    unsigned heard;
    /* Number of writes under way; it is also read without the lock of this struct. */
    unsigned writes;
    bool ending; /* true: the program is ending, so each write is waited for */
    /* For each request slot, the file of the write or read-ahead under way in it; NULL: none. */
    struct wrap_file *in_slot[RSYS_SLOTS_MAX];
    /* for each request slot, bytes of the write under way in it */
    size_t slot_bytes[RSYS_SLOTS_MAX];
    struct wrap_file *writing; /* the file whose writes are under way; NULL: none */
    /* No real file: in_slot of a CLOSE under way points here, because nobody needs its answer. */
    struct wrap_file closing;
    unsigned char fields[RSYS_FIELDS_MAX];
    unsigned char *in; /* receive buffer of RSYS_FRAME_MAX bytes */
    /* bytes in the receive buffer; how many of these belong to the last message */
    size_t have, used;
    size_t root_count, local_count;
    struct {
        uint32_t number;
        char view[256];
    } roots[RSYS_ROOTS_MAX];
    char locals[WRAP_LOCALS_MAX][256]; /* directories that are local, with all below them */
    char cwd[WRAP_PATH_SIZE];
    uint32_t umask; /* the program's umask, plus WRAP_UMASK_KNOWN; 0: not known yet */
    struct wrap_file *fds[WRAP_FDS_MAX];
    struct wrap_file files[WRAP_FILES_MAX];
    size_t files_end; /* the entries of files from this index on were never used */
    bool has_locks;   /* true: this process has, or had, locks of any kind */
    struct wrap_taken taken[WRAP_TAKEN_MAX];
    size_t taken_count;
    /* Descriptors on whose files the program before exec had locks, such as ",3,5"; ",": all. */
    char kept_taken[64];
};
extern struct wrap_state wrap_all;

/* ---- wrap_link.c ----------------------------------------------------------------------------- */

/* Takes this library's lock and, on the first call, begins the session with the door.  Blocks all
 * signals; *old: the signal mask of before, for wrap_leave().  Returns false if there are no remote
 * files; then the lock is not held, and the signal mask is unchanged. */
bool wrap_enter(sigset_t *old);
/* Returns true once it is decided, for good, whether this process has remote files. */
bool wrap_is_begun(void);
/* Releases the lock that wrap_enter() took. */
void wrap_leave(const sigset_t *old);
/* Sends a request and waits for its reply.  Returns the reply's status; or -EIO: the door is gone.
 * Pointers in reply are valid until the next call of this function. */
int wrap_call(struct rsys_request *request, struct rsys_reply *reply);
/* Sends a request in the given slot and does not wait for its reply, which later goes to
 * wrap_file_answered().  Returns 0 or -errno. */
int wrap_send(struct rsys_request *request, uint16_t slot);
/* Receives the next reply, of any slot.  Returns 0; -EIO: it is malformed; -EPIPE: the door is
 * gone. */
int wrap_receive(struct rsys_reply *reply);
/* In wrap_link.c: the result of a request whose connection was cut; no reply has this status. */
#define WRAP_CUT 2
/* Connects to the door again, opens again the files that a new door does not know, and takes their
 * locks again.  Returns false if no connection could be made. */
bool wrap_renew(void);
/* Makes a connection to the door.  Returns its descriptor or a negative errno. */
int wrap_connect(void);
/* Sends the preface of the protocol, and HELLO, on a connection that wrap_connect() made; does not
 * wait for the reply. slots: number of request slots to ask for.  Returns 0 or a negative errno. */
int wrap_greet(int fd, uint32_t slots);
/* Sends a request on the connection fd, with the slot and seq that are set in it; does not wait for
 * the reply.  Returns 0 or a negative errno. */
int wrap_send_on(int fd, const struct rsys_request *request);
/* Waits until no write is under way.  The caller must hold this library's lock (wrap_enter()). */
void wrap_settle(void);
/* Waits until no write is under way; the caller must not hold this library's lock (wrap_enter()).
 * Called before the program tells another process something, so that this other process finds all
 * writes done. */
void wrap_settle_for_others(void);
/* Waits until no write is under way; from now on, each write is waited for.  To be called when the
 * program is ending. */
void wrap_write_no_later(void);

/* ---- wrap_names.c ---------------------------------------------------------------------------- */

/* Result of wrap_follow(), wrap_call_at(), wrap_call_both() and wrap_file_open() if a name led to a
 * file of this machine, whose path is in the argument of type struct wrap_place. */
#define WRAP_LOCAL 1

/* Finds the root, and the path in it, that a name means, relative to the directory `dir` (AT_FDCWD:
 * the working directory).  Asks the server only if the name contains "..".  Returns 0 or a negative
 * errno. */
int wrap_find(int dir, const char *name, struct wrap_place *ret);
/* Follows all symbolic links in place->path, also one as the last name. *ret: attributes of the
 * file.  Returns 0; WRAP_LOCAL: the links led to a local file; or a negative errno. */
int wrap_follow(struct wrap_place *place, struct rsys_attr *ret);
/* Sends a request about the file at a place; when the server finds a symbolic link on the way,
 * resolves the link and sends the request again.  Returns the reply's status; WRAP_LOCAL: links led
 * to a local file; or a negative errno. */
int wrap_call_at(struct wrap_place *place, struct rsys_request *request, struct rsys_reply *reply);
/* Does the work of wrap_call_at() for a request with two places, such as RENAME.  Also returns
 * -EXDEV if only one of the places is local. */
int wrap_call_both(struct wrap_place *at, struct wrap_place *to, struct rsys_request *request,
                   struct rsys_reply *reply);
void wrap_stat_of(const struct rsys_attr *attr, struct stat *ret);

/* ---- wrap_files.c ---------------------------------------------------------------------------- */

/* Returns the open remote file of descriptor fd; NULL: the descriptor is of a local file. */
struct wrap_file *wrap_file_of(int fd);
/* Returns whether fd is surely a descriptor of a local file.  Takes no lock, so that calls on local
 * files take no longer.  (Another thread can know the number of a remote descriptor only after it
 * was entered in wrap_all.fds.) */
bool wrap_is_certainly_local(int fd);
/* Opens the file at a place, as open() does.  Returns 0, with the new descriptor in *fd;
 * WRAP_LOCAL: symbolic links led to a local file; or a negative errno. */
int wrap_file_open(struct wrap_place *place, int flags, mode_t mode, int *fd);
int64_t wrap_file_read(struct wrap_file *file, void *data, size_t length, uint64_t offset);
int64_t wrap_file_write(struct wrap_file *file, const void *data, size_t length, uint64_t offset);
uint64_t wrap_file_offset(const struct wrap_file *file);
void wrap_file_set_offset(struct wrap_file *file, uint64_t offset);
int64_t wrap_file_seek(struct wrap_file *file, int64_t offset, int whence);
int wrap_file_stat(struct wrap_file *file, struct stat *ret);
/* To be called after dup() or a similar call: records that fd is now a further descriptor of the
 * remote file `file` (NULL: of a local file).  The file that fd was a descriptor of before is
 * released. */
void wrap_file_double(struct wrap_file *file, int fd);
/* Closes a descriptor of a remote file and, if it was the last one, the file.  Returns 0 or a
 * negative errno. */
int wrap_file_close(int fd);
/* Returns the -errno of an earlier write that the program believes done, and forgets it; 0: no
 * error. */
int wrap_file_take_error(struct wrap_file *file);
/* Handles the reply to a request that was sent by wrap_send(). */
void wrap_file_answered(const struct rsys_reply *reply);
/* Drops the data that was read of the file dev, ino, because its contents have changed. */
void wrap_file_forget(uint64_t dev, uint64_t ino);
/* Returns whether this process may have range locks on any of its open remote files. */
bool wrap_files_are_locked(void);
/* To be called before fork() and exec: marks all open remote files as shared with other
 * processes. */
void wrap_files_share(void);
/* To be called in a child process after fork(): forgets the range locks, which only the parent
 * has. */
void wrap_files_unlocked(void);
/* Drops the data that was read of all files, and the data of reads under way. */
void wrap_files_unread(void);
/* Tells the door that this process uses its open files, so that the door does not close them; opens
 * again the files that a new door does not know. */
void wrap_files_hold(void);
/* To be called in a program that exec started: finds the remote files among its descriptors. */
void wrap_files_adopt(void);

/* ---- wrap_record.c --------------------------------------------------------------------------- */

/* Reads the contents of the memfd that stands for a remote file.  Returns false if fd is no
 * descriptor of such a memfd. */
bool wrap_record_read(int fd, struct wrap_record *ret);
/* Makes a memfd that stands for a remote file with that path.  cloexec: true: exec closes the
 * descriptor.  Returns the memfd's descriptor or a negative errno. */
int wrap_record_make(const struct wrap_file *file, const char *path, bool cloexec);

/* ---- wrap_locks.c ---------------------------------------------------------------------------- */

/* Does the work of fcntl() with a lock command (F_GETLK, F_SETLK, F_OFD_SETLK and so on) for a
 * descriptor of a remote file.  ret: the lock, as for fcntl(); F_GETLK and F_OFD_GETLK change it.
 * Returns 0 or a negative errno. */
int wrap_lock(int fd, int command, struct flock *ret);
/* Does the work of flock() for a descriptor of a remote file.  how: LOCK_SH, LOCK_EX or LOCK_UN,
 * also with LOCK_NB.  Returns 0 or a negative errno. */
int wrap_lock_whole(int fd, int how);

/* ---- wrap_taken.c ---------------------------------------------------------------------------- */

/* To be called after a LOCK succeeded: remembers the lock that was taken, or forgets the range that
 * was unlocked. */
void wrap_taken_note(struct wrap_file *file, const struct rsys_request *request);
/* Forgets the remembered locks of the given kind on the file, because they are released. */
void wrap_taken_over(const struct wrap_file *file, enum wrap_lock_kind kind);
/* To be called in a child process after fork(): forgets the locks that belong to the parent
 * process. */
void wrap_taken_of_parent(void);
/* Takes all remembered locks again, from a new door. */
void wrap_taken_again(void);
/* To be called before exec: writes to ret the list, such as ",3,5", of the descriptors on whose
 * files this program has locks. */
void wrap_taken_tell(char *ret, size_t size);
/* Returns whether the program before exec had locks on the file of descriptor fd. */
bool wrap_taken_was_told(int fd);

/* ---- wrap_stdio.c ---------------------------------------------------------------------------- */

/* To be called, without this library's lock, after dup2() or a similar call has changed a standard
 * descriptor (0 to 2): makes the stdio stream of that descriptor (stdin, stdout, stderr) use the
 * new file. */
void wrap_stdio_follow(int fd);

#endif
