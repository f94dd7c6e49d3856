/* rsyscall/wrap/wrap.h - the C library's calls on files, of a program whose files are elsewhere:
 * what the parts of the object have in common.
 *
 * The problem: a program on a stranger's machine where ordinary users may make no namespaces, so
 * that no file system can be put under it (rsyscall_fuse/).  It is linked with this object, or has
 * it preloaded, and its calls come here first.  What names a file of this machine goes on to the
 * kernel; all else is asked of a door (rsyscall_fuse/door.c), over a Unix socket, in the protocol
 * of remote system calls.  The door ends TLS: no cryptography, and no secret, in the program.
 *
 * A remote file's descriptor is the kernel's: a memfd whose contents say what it stands for
 * (struct wrap_record).  So dup(), fork(), exec, close-on-exec, descriptors that are passed on, and
 * an offset that several processes have in common are done by the kernel, and a table kept by us
 * cannot come to differ from its.  A program that is executed finds what it has by looking.
 *
 * Rejected: a table of descriptors of our own (numbers that the kernel does not know are given out
 * by it again, and are lost by exec), SIGSYS for each call (every call of the program costs a
 * signal), TLS in the program (it has its own, of another version).
 *
 * The descriptor cannot be read, and the memfd not be written: a call of the C library's that is
 * not wrapped fails on it (EBADF, EPERM), and nothing wrong is read and nothing lost in silence.
 *
 * Invariants: one lock, which is held with all signals blocked, so that a handler may call what a
 * handler may call; under it nothing allocates but mmap(), and nothing waits but for the door.
 * Nothing prints or ends the program.  Who waits for the door waits as for a disk.
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

#define WRAP_FDS_MAX    4096 /* descriptors above it are this machine's */
#define WRAP_FILES_MAX  1024 /* open at once in one process */
#define WRAP_LINKS_MAX  40   /* as in the kernel */
#define WRAP_PATH_SIZE  (RSYS_PATH_MAX + 1)
#define WRAP_WRITES_MAX 8 /* under way at once */
#define WRAP_AHEADS_MAX 4
#define WRAP_OPEN_DATA  ((size_t)16 << 10) /* asked for with a file that is opened */
#define WRAP_FRESH_NS   1000000            /* for how long that is as good as what is asked for */
#define WRAP_LOCALS_MAX 32
#define WRAP_TAKEN_MAX  256 /* locks that are known */

#define WRAP_UMASK_KNOWN 01000U
#define WRAP_KEPT_NAME   "ROOST_REMOTE_KEPT"
#define WRAP_KEPT_LOCKS  'l' /* behind the number: it has locks */
#define WRAP_KEPT_TAKEN  ',' /* before each descriptor of what it had locks on */

/* The owner of locks of F_OFD_SETLK: with the handle's name. */
#define WRAP_OWNED_BY_FILE ((uint64_t)1 << 63)

#define WRAP_EXPORT __attribute__((visibility("default")))

/* The contents of a descriptor's memfd. */
#define WRAP_MAGIC 0x31666d7274736f6fULL
struct wrap_record {
    uint64_t magic;
    uint64_t handle;
    uint64_t dev, ino, birth;
    uint32_t flags; /* of open(), without those that are done once */
    uint32_t mode;  /* the type */
    char path[WRAP_PATH_SIZE];
};

enum wrap_ahead_state { WRAP_AHEAD_NONE, WRAP_AHEAD_ASKED, WRAP_AHEAD_HERE };

struct wrap_buffer {
    unsigned char *data; /* RSYS_DATA_MAX bytes, or NULL */
    uint64_t offset;
    size_t length;
};

/* An open file, as this process knows it. */
struct wrap_file {
    uint64_t handle;
    uint64_t dev, ino, birth;
    uint32_t flags, mode;
    unsigned refs;      /* descriptors of this process; 0: free */
    bool shared;        /* others may have it: the offset is the kernel's, and it is not closed */
    uint64_t offset;    /* unless shared */
    uint64_t read_end;  /* where the last read ended: is this one sequential? */
    size_t window;      /* bytes to be asked for at once */
    uint64_t fresh_ns;  /* until then what came with OPEN is as good as asked for; 0: nothing */
    unsigned heard;     /* wrap_all.heard then */
    bool locked;        /* this process may have locks of ranges of it */
    bool locks_unknown; /* which they are */
    bool lost;          /* they are another's: it is of no use any more */
    int error;          /* of a write that was answered before: to be told once */
    struct wrap_buffer now, next;
    enum wrap_ahead_state ahead;
    uint16_t ahead_slot;
    int fd; /* one of its descriptors, for the shared offset */
};

/* A lock that this process has, or what it opened. */
enum wrap_lock_kind { WRAP_LOCK_OF_PROCESS, WRAP_LOCK_OF_FILE, WRAP_LOCK_OF_ALL };
struct wrap_taken {
    struct wrap_file *file;
    enum wrap_lock_kind kind; /* fcntl(), F_OFD_SETLK, flock() */
    uint32_t type;
    uint64_t start, end; /* the last byte; UINT64_MAX: to the end of the file */
};

/* Where a name leads. */
struct wrap_place {
    bool local;      /* to be given to the kernel: path, or what was asked for where that is "" */
    bool nofollow;   /* a link at the end is -ELOOP */
    unsigned links;  /* followed so far */
    uint64_t handle; /* a root's */
    size_t skip;     /* bytes of path that are the root's view and a slash */
    char path[WRAP_PATH_SIZE]; /* absolute, without "." and ".." */
};

struct wrap_state {
    bool begun, on;
    bool renewing;  /* the connection was cut */
    int fd;         /* the socket */
    int childs;     /* that of the child that is about to be made, or -1 */
    int kept;       /* that of the program before this one, or -1 */
    char door[108]; /* its address */
    uint32_t slots; /* the door's */
    size_t data_max;
    uint32_t seq[RSYS_SLOTS_MAX];
    unsigned heard;                            /* reads of this machine's files: of pipes, say */
    unsigned writes;                           /* under way; looked at without the lock, too */
    bool ending;                               /* writes are waited for */
    struct wrap_file *in_slot[RSYS_SLOTS_MAX]; /* writes and aheads */
    size_t slot_bytes[RSYS_SLOTS_MAX];         /* of a write */
    struct wrap_file *writing;                 /* whose they are */
    struct wrap_file closing;                  /* in a slot: a CLOSE that nobody waits for */
    unsigned char fields[RSYS_FIELDS_MAX];
    unsigned char *in; /* RSYS_FRAME_MAX bytes */
    size_t have, used; /* bytes in it; of the last message taken */
    size_t root_count, local_count;
    struct {
        uint32_t number;
        char view[256];
    } roots[RSYS_ROOTS_MAX];
    char locals[WRAP_LOCALS_MAX][256]; /* names that are this machine's, and all below */
    char cwd[WRAP_PATH_SIZE];
    uint32_t umask; /* with WRAP_UMASK_KNOWN; 0: not asked for yet */
    struct wrap_file *fds[WRAP_FDS_MAX];
    struct wrap_file files[WRAP_FILES_MAX];
    size_t files_end; /* none from there on was ever open */
    bool has_locks;   /* of any kind, or had some */
    struct wrap_taken taken[WRAP_TAKEN_MAX];
    size_t taken_count;
    char kept_taken[64]; /* of the program before this one: ",3,5" */
};
extern struct wrap_state wrap_all;

/* ---- wrap_link.c
 * ---------------------------------------------------------------------------------- */

/* The lock, and the session if it has not begun.  False: there are no remote files; nothing is
 * held. */
bool wrap_enter(sigset_t *old);
bool wrap_is_begun(void); /* whether there are remote files is known, and stays so */
void wrap_leave(const sigset_t *old);
/* Asks, and waits for the answer: its status, or -EIO when the door is gone.  What reply points to
 * is good until the next call. */
int wrap_call(struct rsys_request *request, struct rsys_reply *reply);
/* Sends in that slot, and does not wait: what comes is taken by wrap_file_answered(). */
int wrap_send(struct rsys_request *request, uint16_t slot);
/* One message, whichever it is.  -EPIPE: the door is gone. */
int wrap_receive(struct rsys_reply *reply);
#define WRAP_CUT 2 /* never an answer */
/* Another connection, where the files are opened again that the door does not know.  False: there
 * is none. */
bool wrap_renew(void);
/* A connection beside ours: a descriptor or a negative errno; its preface and HELLO; requests. */
int wrap_connect(void);
int wrap_greet(int fd, uint32_t slots);
int wrap_send_on(int fd, const struct rsys_request *request);
/* Until no write is under way. */
void wrap_settle(void);
/* The same, not under the lock, of a program that is about to tell others what it has done: who
 * asks the door because of it finds it done. */
void wrap_settle_for_others(void);
/* From here on writes are waited for: nobody would before the program's end. */
void wrap_write_no_later(void);

/* ---- wrap_names.c
 * --------------------------------------------------------------------------------- */

#define WRAP_LOCAL 1 /* the way led to this machine's files: place->path */

/* Where dir and name lead.  0 or a negative errno.  Asks the server only where there is "..". */
int wrap_find(int dir, const char *name, struct wrap_place *ret);
/* Through a link at its end, too: 0 and what is there, WRAP_LOCAL, or a negative errno. */
int wrap_follow(struct wrap_place *place, struct rsys_attr *ret);
/* A request about a place, which is followed anew as long as there are links on the way: as
 * wrap_call(), or WRAP_LOCAL. */
int wrap_call_at(struct wrap_place *place, struct rsys_request *request, struct rsys_reply *reply);
/* The same for two; the links of both. */
int wrap_call_both(struct wrap_place *at, struct wrap_place *to, struct rsys_request *request,
                   struct rsys_reply *reply);
void wrap_stat_of(const struct rsys_attr *attr, struct stat *ret);

/* ---- wrap_files.c
 * --------------------------------------------------------------------------------- */

struct wrap_file *wrap_file_of(int fd); /* NULL: this machine's */
/* Without the lock, so that this machine's files cost nothing.  (Who is told of a descriptor was
 * told after it was made.) */
bool wrap_is_certainly_local(int fd);
/* A descriptor, WRAP_LOCAL, or a negative errno. */
int wrap_file_open(struct wrap_place *place, int flags, mode_t mode, int *fd);
int64_t wrap_file_read(struct wrap_file *file, void *data, size_t length, uint64_t offset);
int64_t wrap_file_write(struct wrap_file *file, const void *data, size_t length, uint64_t offset);
uint64_t wrap_file_offset(const struct wrap_file *file);
void wrap_file_set_offset(struct wrap_file *file, uint64_t offset);
int64_t wrap_file_seek(struct wrap_file *file, int64_t offset, int whence);
int wrap_file_stat(struct wrap_file *file, struct stat *ret);
/* A descriptor is another one's double now; what it was before is forgotten. */
void wrap_file_double(struct wrap_file *file, int fd);
int wrap_file_close(int fd); /* the descriptor too */
/* The error of writes before, once. */
int wrap_file_take_error(struct wrap_file *file);
void wrap_file_answered(const struct rsys_reply *reply);
/* What was read of that file before is not true any more. */
void wrap_file_forget(uint64_t dev, uint64_t ino);
/* Has this process locks of ranges? */
bool wrap_files_are_locked(void);
/* Before and after fork(); in a program that was executed. */
void wrap_files_share(void);
void wrap_files_unlocked(void); /* a child has no locks */
void wrap_files_unread(void);   /* nothing that was read or asked for is of use */
void wrap_files_hold(void);
void wrap_files_adopt(void);

/* ---- wrap_record.c --------------------------------------------------------------------------- */

/* Of a descriptor of ours. */
bool wrap_record_read(int fd, struct wrap_record *ret);
/* A descriptor for the file, which is at that path; or a negative errno. */
int wrap_record_make(const struct wrap_file *file, const char *path, bool cloexec);

/* ---- wrap_locks.c ---------------------------------------------------------------------------- */

/* fcntl()'s F_GETLK and so on, and flock(), of a remote descriptor.  0 or a negative errno. */
int wrap_lock(int fd, int command, struct flock *ret);
int wrap_lock_whole(int fd, int how);

/* ---- wrap_taken.c ---------------------------------------------------------------------------- */

/* It was given, or given back. */
void wrap_taken_note(struct wrap_file *file, const struct rsys_request *request);
/* Those of that kind on the file are gone. */
void wrap_taken_over(const struct wrap_file *file, enum wrap_lock_kind kind);
void wrap_taken_of_parent(void); /* in a child */
/* All of them from another door. */
void wrap_taken_again(void);
/* For the program that is executed: on which descriptors locks are; and had they there? */
void wrap_taken_tell(char *ret, size_t size);
bool wrap_taken_was_told(int fd);

/* ---- wrap_stdio.c ---------------------------------------------------------------------------- */

/* A standard descriptor was set: its stream is made to fit.  Not under the lock. */
void wrap_stdio_follow(int fd);

#endif
