/* rsyscall/wrap/wrap.h - the library that replaces the C library's file calls in a program whose
 * files are on another machine: declarations that its parts share.
 *
 * The problem: on some machines ordinary users may not create namespaces, so that no file system
 * can be mounted for the program (rsyscall_fuse/).  The program is linked with this object, or
 * preloads it, and its calls come here first.  Calls about files of this machine go on to the
 * kernel.  All others are sent to a door (rsyscall_fuse/door.c), a local server on a Unix socket,
 * in the protocol of remote system calls.  The door does TLS, so no cryptography and no secret is
 * in the program.
 *
 * A remote file's descriptor is a real one: a memfd whose contents say which file it means (struct
 * wrap_record). So the kernel handles dup(), fork(), exec, close-on-exec, passed descriptors, and
 * offsets shared by several processes, and no table of ours can differ from the kernel's.  A
 * program started by exec reads its descriptors to learn what is open.
 *
 * Rejected: a descriptor table of our own (the kernel would give out the same numbers again, and
 * exec would lose them); SIGSYS for each call (every call would cost a signal); TLS in the program
 * (it may use TLS itself, in another version).
 *
 * The descriptor cannot be read and the memfd cannot be written.  So a call of the C library that
 * is not wrapped fails on it (EBADF, EPERM), and neither reads wrong data nor loses data silently.
 *
 * Invariants: there is one lock, held with all signals blocked, so that a signal handler may use
 * these calls as POSIX allows.  Under the lock, only mmap() allocates and only the door is waited
 * for.  Nothing prints or ends the program.  Waiting for the door is like waiting for a disk.
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

#define WRAP_FDS_MAX    4096 /* descriptors from here on are always local */
#define WRAP_FILES_MAX  1024 /* remote files open at once in one process */
#define WRAP_LINKS_MAX  40   /* symbolic links followed in one path, as in the kernel */
#define WRAP_PATH_SIZE  (RSYS_PATH_MAX + 1)
#define WRAP_WRITES_MAX 8 /* writes under way at once */
#define WRAP_AHEADS_MAX 4
#define WRAP_OPEN_DATA  ((size_t)16 << 10) /* bytes requested together with OPEN */
/* for this many ns, data that came with OPEN is as good as newly read data */
#define WRAP_FRESH_NS   1000000
#define WRAP_LOCALS_MAX 32
#define WRAP_TAKEN_MAX  256 /* locks that are remembered */

#define WRAP_UMASK_KNOWN 01000U
#define WRAP_KEPT_NAME   "ROOST_REMOTE_KEPT"
#define WRAP_KEPT_LOCKS  'l' /* after the number in WRAP_KEPT_NAME: the program had locks */
#define WRAP_KEPT_TAKEN  ',' /* before each descriptor on whose file the program had locks */

/* Lock owner number for F_OFD_SETLK: this bit, plus the file's handle. */
#define WRAP_OWNED_BY_FILE ((uint64_t)1 << 63)

#define WRAP_EXPORT __attribute__((visibility("default")))

/* The contents of a remote file's memfd. */
#define WRAP_MAGIC 0x31666d7274736f6fULL
struct wrap_record {
    uint64_t magic;
    uint64_t handle;
    uint64_t dev, ino, birth;
    uint32_t flags; /* flags of open(), without those that only act once */
    uint32_t mode;  /* file type, as in st_mode */
    char path[WRAP_PATH_SIZE];
};

enum wrap_ahead_state { WRAP_AHEAD_NONE, WRAP_AHEAD_ASKED, WRAP_AHEAD_HERE };

struct wrap_buffer {
    unsigned char *data; /* RSYS_DATA_MAX bytes of memory, or NULL */
    uint64_t offset;
    size_t length;
};

/* An open remote file as this process knows it. */
struct wrap_file {
    uint64_t handle;
    uint64_t dev, ino, birth;
    uint32_t flags, mode;
    unsigned refs; /* number of this process's descriptors; 0: entry is free */
    /* other processes may have it too: the kernel keeps the offset, and the handle is not closed */
    bool shared;
    uint64_t offset;    /* not used if shared */
    uint64_t read_end;  /* where the last read ended, to recognize sequential reading */
    size_t window;      /* bytes to request at once */
    uint64_t fresh_ns;  /* until this time, data that came with OPEN may be used; 0: none */
    unsigned heard;     /* value of wrap_all.heard when that data came */
    bool locked;        /* this process may have range locks on it */
    bool locks_unknown; /* it is not known which locks those are */
    bool lost;          /* another process has got the locks: the file cannot be used any more */
    /* error of an earlier write that was already reported as done; to be reported once */
    int error;
    struct wrap_buffer now, next;
    enum wrap_ahead_state ahead;
    uint16_t ahead_slot;
    int fd; /* one of its descriptors, to get at the shared offset */
};

/* Whose a lock is: a process's, an open file's range, or an open file's as a whole (flock). */
enum wrap_lock_kind { WRAP_LOCK_OF_PROCESS, WRAP_LOCK_OF_FILE, WRAP_LOCK_OF_ALL };
struct wrap_taken {
    struct wrap_file *file;
    enum wrap_lock_kind kind; /* taken by fcntl(), F_OFD_SETLK or flock() */
    uint32_t type;
    uint64_t start, end; /* first and last byte; end UINT64_MAX: to the end of the file */
};

/* The file that a name means, while it is being resolved. */
struct wrap_place {
    bool local;                /* for the kernel: open path, or the original name if path is "" */
    bool nofollow;             /* a link as the last name is the error -ELOOP */
    unsigned links;            /* links followed so far */
    uint64_t handle;           /* handle of the root */
    size_t skip;               /* bytes of path that are the root's place and a slash */
    char path[WRAP_PATH_SIZE]; /* absolute, without "." and ".." */
};

struct wrap_state {
    bool begun, on;
    bool renewing;  /* reconnecting after the connection was cut */
    int fd;         /* the socket to the door */
    int childs;     /* socket for the child that fork() is about to make, or -1 */
    int kept;       /* socket inherited from the program before exec, or -1 */
    char door[108]; /* address of the door's socket */
    uint32_t slots; /* number of slots that the door granted */
    size_t data_max;
    uint32_t seq[RSYS_SLOTS_MAX];
    /* counts reads of local files (such as pipes), by which the program may learn of changes */
    unsigned heard;
    /* number of writes under way; also read without the lock */
    unsigned writes;
    bool ending; /* the program is ending: each write is waited for */
    /* the file of each slot with a write or read-ahead */
    struct wrap_file *in_slot[RSYS_SLOTS_MAX];
    size_t slot_bytes[RSYS_SLOTS_MAX]; /* bytes of the write in each slot */
    struct wrap_file *writing;         /* the file whose writes are under way */
    /* stands in a slot for a CLOSE whose answer nobody needs */
    struct wrap_file closing;
    unsigned char fields[RSYS_FIELDS_MAX];
    unsigned char *in; /* receive buffer of RSYS_FRAME_MAX bytes */
    size_t have, used; /* bytes in it; bytes of the last message taken */
    size_t root_count, local_count;
    struct {
        uint32_t number;
        char view[256];
    } roots[RSYS_ROOTS_MAX];
    char locals[WRAP_LOCALS_MAX][256]; /* directories that are local, with everything below */
    char cwd[WRAP_PATH_SIZE];
    uint32_t umask; /* with WRAP_UMASK_KNOWN set; 0: not asked for yet */
    struct wrap_file *fds[WRAP_FDS_MAX];
    struct wrap_file files[WRAP_FILES_MAX];
    size_t files_end; /* entries from here on were never used */
    bool has_locks;   /* it has, or had, locks of any kind */
    struct wrap_taken taken[WRAP_TAKEN_MAX];
    size_t taken_count;
    char kept_taken[64]; /* descriptors with locks from the program before exec, such as ",3,5" */
};
extern struct wrap_state wrap_all;

/* ---- wrap_link.c ----------------------------------------------------------------------------- */

/* Takes the lock and starts the session if needed.  False: there are no remote files, and the lock
 * is not held. */
bool wrap_enter(sigset_t *old);
/* true when it has been decided, for good, whether there are remote files */
bool wrap_is_begun(void);
void wrap_leave(const sigset_t *old);
/* Sends a request and waits for its answer.  Returns the answer's status, or -EIO when the door is
 * gone.  Pointers in reply are valid until the next call. */
int wrap_call(struct rsys_request *request, struct rsys_reply *reply);
/* Sends a request in the given slot without waiting; the answer goes to wrap_file_answered(). */
int wrap_send(struct rsys_request *request, uint16_t slot);
/* Receives the next message, of any slot.  Returns 0, -EIO (malformed), or -EPIPE: the door is
 * gone. */
int wrap_receive(struct rsys_reply *reply);
#define WRAP_CUT 2 /* status for a cut connection; differs from all real answers */
/* Connects to the door again and reopens the files that the new door does not know.  False: that
 * failed. */
bool wrap_renew(void);
/* For a second connection: wrap_connect() returns a descriptor or a negative errno; wrap_greet()
 * sends its preface and HELLO; wrap_send_on() sends a request. */
int wrap_connect(void);
int wrap_greet(int fd, uint32_t slots);
int wrap_send_on(int fd, const struct rsys_request *request);
/* Waits until no write is under way. */
void wrap_settle(void);
/* Like wrap_settle(), but called without the lock, before the program tells another process
 * something: that process then finds all writes done. */
void wrap_settle_for_others(void);
/* From now on each write is waited for; called when the program is ending. */
void wrap_write_no_later(void);

/* ---- wrap_names.c ---------------------------------------------------------------------------- */

#define WRAP_LOCAL 1 /* the name led to a local file: place->path */

/* Resolves dir and name.  Returns 0 or a negative errno.  Asks the server only when the name
 * contains "..". */
int wrap_find(int dir, const char *name, struct wrap_place *ret);
/* Resolves also a link as the last name.  Returns 0 and the file's attributes, WRAP_LOCAL, or a
 * negative errno. */
int wrap_follow(struct wrap_place *place, struct rsys_attr *ret);
/* Sends a request about a place, again after each link on the way was resolved.  Returns as
 * wrap_call(), or WRAP_LOCAL. */
int wrap_call_at(struct wrap_place *place, struct rsys_request *request, struct rsys_reply *reply);
/* Like wrap_call_at(), for a request with two places; -EXDEV when only one of them is local. */
int wrap_call_both(struct wrap_place *at, struct wrap_place *to, struct rsys_request *request,
                   struct rsys_reply *reply);
void wrap_stat_of(const struct rsys_attr *attr, struct stat *ret);

/* ---- wrap_files.c ---------------------------------------------------------------------------- */

struct wrap_file *wrap_file_of(int fd); /* NULL: a local descriptor */
/* True when fd is surely local; called without the lock, so that local files cost nothing.
 * (Another thread can only know a remote descriptor after it was entered in the table.) */
bool wrap_is_certainly_local(int fd);
/* Opens a file.  Returns 0 and sets *fd, WRAP_LOCAL, or a negative errno. */
int wrap_file_open(struct wrap_place *place, int flags, mode_t mode, int *fd);
int64_t wrap_file_read(struct wrap_file *file, void *data, size_t length, uint64_t offset);
int64_t wrap_file_write(struct wrap_file *file, const void *data, size_t length, uint64_t offset);
uint64_t wrap_file_offset(const struct wrap_file *file);
void wrap_file_set_offset(struct wrap_file *file, uint64_t offset);
int64_t wrap_file_seek(struct wrap_file *file, int64_t offset, int whence);
int wrap_file_stat(struct wrap_file *file, struct stat *ret);
/* Makes descriptor fd another one of file (NULL: of a local file), after dup() or the like; what fd
 * meant before is released. */
void wrap_file_double(struct wrap_file *file, int fd);
int wrap_file_close(int fd); /* closes the descriptor too */
/* Returns, once, the error of an earlier write. */
int wrap_file_take_error(struct wrap_file *file);
void wrap_file_answered(const struct rsys_reply *reply);
/* Drops read data of that file, because it is no longer true. */
void wrap_file_forget(uint64_t dev, uint64_t ino);
/* True when this process has range locks. */
bool wrap_files_are_locked(void);
/* The functions below are called before and after fork(), and in a program started by exec. */
void wrap_files_share(void);
void wrap_files_unlocked(void); /* a child process has no locks */
void wrap_files_unread(void);   /* drops read data and reads under way */
void wrap_files_hold(void);
void wrap_files_adopt(void);

/* ---- wrap_record.c --------------------------------------------------------------------------- */

/* Reads the record of one of our descriptors; false when fd is not one. */
bool wrap_record_read(int fd, struct wrap_record *ret);
/* Makes a descriptor for a remote file with that path; returns it, or a negative errno. */
int wrap_record_make(const struct wrap_file *file, const char *path, bool cloexec);

/* ---- wrap_locks.c ---------------------------------------------------------------------------- */

/* Execute fcntl() with F_GETLK and so on, and flock(), for a remote descriptor.  Return 0 or a
 * negative errno. */
int wrap_lock(int fd, int command, struct flock *ret);
int wrap_lock_whole(int fd, int how);

/* ---- wrap_taken.c ---------------------------------------------------------------------------- */

/* Remembers a lock that the server gave, or forgets one that it took back. */
void wrap_taken_note(struct wrap_file *file, const struct rsys_request *request);
/* Forgets the locks of that kind on the file. */
void wrap_taken_over(const struct wrap_file *file, enum wrap_lock_kind kind);
void wrap_taken_of_parent(void); /* called in a child process after fork() */
/* Requests all remembered locks again, from a new door. */
void wrap_taken_again(void);
/* For exec: wrap_taken_tell() writes the descriptors with locks to ret; in the new program,
 * wrap_taken_was_told() says whether fd was among them. */
void wrap_taken_tell(char *ret, size_t size);
bool wrap_taken_was_told(int fd);

/* ---- wrap_stdio.c ---------------------------------------------------------------------------- */

/* Makes the stdio stream of a standard descriptor fit after dup2() or the like changed it.  Call
 * without the lock. */
void wrap_stdio_follow(int fd);

#endif
