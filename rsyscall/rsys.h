/* rsyscall/rsys.h - the protocol of remote system calls, by which a job uses files of the submit
 * machine.
 *
 * The problem: a job on a foreign machine works on its owner's files.  On the job's side is a
 * client: a file system (rsyscall_fuse/) or a library in the job.  In the shadow (the owner's
 * process on the submit machine) is the server (server.h).  Between them is one connection
 * (docs/protocol/rsyscall.md) with requests that have a header of 16 bytes; many are under way at
 * once and are answered in any order.
 *
 * Three decisions come from a network that is cut now and then, and from clients that may be
 * hostile:
 * - Each request uses a slot and the slot's next number.  After a cut, the client sends the
 *   unanswered requests again, on another connection of the same session.  The server recognizes by
 *   the number a request that it has executed already, and sends the remembered reply.  The number
 *   of slots limits how many replies it has to remember.
 * - A file is named by (handle, path below it), as with openat(); an empty path is the handle's own
 *   file.  The server follows no symbolic link: it answers -ELOOP with the link's text, and the
 *   client continues from there, as a kernel does.  So the server has no state except open files.
 * - Every message has a bound and is checked as a whole before any part of it is used.
 *
 * One table (rsys_codec.c) lists the fields of each operation.  This file and rsys_codec.c use only
 * libc, because they are linked into jobs too.  Their functions always return, and allocate
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_RSYS_H
#define RSYSCALL_RSYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSYS_VERSION     2
#define RSYS_DATA_MAX    ((size_t)1 << 20)            /* most bytes of data in one message */
#define RSYS_FRAME_MAX   (RSYS_DATA_MAX + (16 << 10)) /* most bytes of one message */
#define RSYS_HEADER_SIZE 16
#define RSYS_FIELDS_MAX  (16 << 10) /* most bytes of a message's header and fields */
/* most bytes of a path or of a link's text, without the terminating zero */
#define RSYS_PATH_MAX 4095
/* most bytes of a file's name, without the terminating zero */
#define RSYS_NAME_MAX     255
#define RSYS_TICKET_MAX   512 /* most bytes of a ticket, without the terminating zero */
#define RSYS_OPEN_DATA    ((size_t)64 << 10) /* most bytes of data in the reply to OPEN */
#define RSYS_SLOTS_MAX    128                /* most requests under way at once in a session */
#define RSYS_EXTENTS_MAX  64
#define RSYS_ROOTS_MAX    16
#define RSYS_SESSION_SIZE 16

/* The handle of what the job sees as "/", unless the reply to HELLO said otherwise.  Handles below
 * RSYS_ROOTS_MAX are roots (offered directories).  All other handles come from replies to OPEN. */
#define RSYS_ROOT 0

/* The operations.  Each comment lists the fields of struct rsys_request that the request uses and
 * the fields of struct rsys_reply that a successful reply has; a reply without a list has only its
 * status.  The field `at` names the file that the operation is about. */
enum rsys_op {
    RSYS_HELLO = 1, /* begins or resumes a session; the first request of each connection */
    RSYS_PING,      /* does nothing but renew the lease of the session */
    RSYS_BYE,       /* ends the session and closes all its handles */
    /* Gets a file's attributes; never follows a link.  Request: at; reply: attr. */
    RSYS_STAT,
    /* Sets attributes.  Request: at, attr, how (RSYS_SET_*: which of them); reply: attr. */
    RSYS_SETATTR,
    RSYS_ACCESS,   /* tests permissions, as access() does.  Request: at, how (R_OK, W_OK, X_OK) */
    RSYS_READLINK, /* reads a symbolic link.  Request: at; reply: text */
    /* Opens a file.  Request: at, how (RSYS_OPEN_*), mode, attr.dev, attr.ino and birth (for
     * RSYS_OPEN_SAME), length (bytes of contents wanted at once); reply: handle, value (1: the file
     * was created), attr, birth, data (the beginning of the file, up to length bytes). */
    RSYS_OPEN,
    RSYS_CLOSE, /* closes a handle.  Request: at.handle */
    /* Releases an owner's locks on a file, because that owner closed a descriptor of it.  Request:
     * at.handle, owner. */
    RSYS_FLUSH,
    /* Reads.  Request: at.handle, offset, length; reply: value (bytes read, holes included),
     * extents and data (what is not holes). */
    RSYS_READ,
    /* Writes.  Request: at.handle, extents, data; reply: value (bytes written), attr (if
     * RSYS_WANT_ATTR). */
    RSYS_WRITE,
    /* Reads a directory.  Request: at.handle, offset (0, or the cookie of the last entry that the
     * client has), length (most bytes of data), how (RSYS_DIR_PLUS or 0); reply: value (1: the
     * end), data (entries, see rsys_entry_next()). */
    RSYS_READDIR,
    RSYS_MKDIR,   /* makes a directory.  Request: at, mode; reply: attr */
    RSYS_MKNOD,   /* makes a FIFO or an empty file.  Request: at, mode; reply: attr */
    RSYS_SYMLINK, /* makes a symbolic link.  Request: at, text (the link's text); reply: attr */
    RSYS_LINK,    /* makes a hard link.  Request: at (the file), to (its new name); reply: attr */
    RSYS_RENAME,  /* renames.  Request: at, to (the new name), how (RSYS_RENAME_* or 0) */
    RSYS_UNLINK,  /* removes a file.  Request: at */
    RSYS_RMDIR,   /* removes a directory.  Request: at */
    RSYS_STATFS,  /* gets data about the file system.  Request: at; reply: statfs */
    RSYS_FSYNC,   /* makes written data durable.  Request: at.handle, how (RSYS_SYNC_DATA or 0) */
    /* Takes, releases or queries a lock.  Request: at.handle, lock, owner, how (RSYS_LOCK_* or 0),
     * wait_ms (milliseconds to wait for the lock); reply: lock. */
    RSYS_LOCK,
    /* Asks for an extended attribute; the server always refuses with -EOPNOTSUPP.  Request: at,
     * text (name of the attribute). */
    RSYS_XATTR,
    /* Allocates, frees or zeroes a range of a file, as fallocate() does.  Request: at.handle,
     * offset, length, how (FALLOC_FL_*); reply: attr. */
    RSYS_FALLOCATE,
    /* Finds data or a hole.  Request: at.handle, offset, how (RSYS_SEEK_*); reply: value (the
     * offset found). */
    RSYS_SEEK,
    /* Copies between two files.  Request: at.handle, offset (from), to.handle, offset_to, length;
     * reply: value (bytes copied). */
    RSYS_COPY,
    /* Makes the LOCK that waits in a slot be answered with -EINTR now.  Request: slot_of, seq_of
     * (slot and number of the LOCK). */
    RSYS_CANCEL,
    RSYS_OP_END
};

/* Value of rsys_request.flags for WRITE: the reply must also have the file's attributes. */
#define RSYS_WANT_ATTR 1U

/* Values of rsys_request.how for OPEN. */
/* Open for reading. */
#define RSYS_OPEN_READ      1U
#define RSYS_OPEN_WRITE     2U
#define RSYS_OPEN_APPEND    4U /* each WRITE appends, whatever its offsets are */
#define RSYS_OPEN_CREATE    8U /* create the file if it does not exist; reply: value 1: created */
#define RSYS_OPEN_EXCL      16U
#define RSYS_OPEN_TRUNC     32U
#define RSYS_OPEN_DIRECTORY 64U /* open a directory: for READDIR, and as the start of paths */
/* Open without access to the contents (O_PATH): for STAT, and as the start of paths. */
#define RSYS_OPEN_PATH 128U
#define RSYS_OPEN_SYNC 256U
/* Make a file without a name in the directory that `at` names (O_TMPFILE); LINK can give it a
 * name. */
#define RSYS_OPEN_TMPFILE 512U
/* Open a file again after the session was lost: -ESTALE unless it is still the file attr.dev,
 * attr.ino. */
#define RSYS_OPEN_SAME 1024U

/* Values of rsys_request.how for SETATTR: which fields of attr to set. */
/* Set the permissions. */
#define RSYS_SET_MODE      1U
#define RSYS_SET_UID       2U
#define RSYS_SET_GID       4U
#define RSYS_SET_SIZE      8U
#define RSYS_SET_ATIME     16U
#define RSYS_SET_MTIME     32U
#define RSYS_SET_ATIME_NOW 64U
#define RSYS_SET_MTIME_NOW 128U

/* value of rsys_request.how for READDIR: the entries include attributes */
#define RSYS_DIR_PLUS 1U
/* value of rsys_request.how for FSYNC: sync only data, as fdatasync() does */
#define RSYS_SYNC_DATA        1U
#define RSYS_RENAME_NOREPLACE 1U
#define RSYS_RENAME_EXCHANGE  2U
#define RSYS_SEEK_DATA        3U
#define RSYS_SEEK_HOLE        4U

/* Values of rsys_request.how for LOCK.  Without RSYS_LOCK_FLOCK, a range of the file is locked for
 * an owner, as by fcntl(); with it, the open file as a whole, as by flock(). */
/* Take no lock, but find a lock that conflicts, as F_GETLK does; the reply's lock is the one found,
 * or has the type RSYS_UNLOCKED if no lock conflicts. */
#define RSYS_LOCK_GET         1U
#define RSYS_LOCK_FLOCK       2U
#define RSYS_LOCK_WAIT_MS_MAX 60000U

enum rsys_lock_type { RSYS_UNLOCKED, RSYS_LOCK_READ, RSYS_LOCK_WRITE };

/* A text in a message.  It is borrowed from the message's buffer, ends with a zero byte there, and
 * contains no other zero byte. */
struct rsys_text {
    const char *data; /* NULL: the empty text */
    uint16_t length;  /* bytes, without the terminating zero */
};

/* How a request names a file: by a path such as "a/b/c" below the directory of a handle.  No name
 * in the path is empty, "." or "..", or longer than RSYS_NAME_MAX.  The path "" means the file of
 * the handle itself. */
struct rsys_at {
    uint64_t handle;
    struct rsys_text path;
};

struct rsys_time {
    int64_t s;
    uint32_t ns;
};

struct rsys_attr {
    uint32_t mode; /* type and permissions, as in struct stat */
    uint32_t nlink;
    uint32_t uid, gid;
    uint32_t blksize;
    uint32_t rdev_major, rdev_minor;
    uint64_t dev, ino; /* st_dev and st_ino: together they identify a file of the server */
    uint64_t size;
    uint64_t blocks; /* number of 512-byte blocks */
    struct rsys_time atime, mtime, ctime;
};

struct rsys_statfs {
    uint64_t blocks, bfree, bavail; /* as in struct statvfs, in blocks of frsize bytes */
    uint64_t files, ffree;
    uint32_t frsize, namelen;
};

struct rsys_lock {
    uint32_t type; /* enum rsys_lock_type */
    /* In the reply for RSYS_LOCK_GET: number of the process, on the server's machine, that holds
     * the conflicting lock; 0: unknown. */
    uint32_t pid;
    uint64_t start, length; /* the locked bytes; length 0: to the end of the file */
};

struct rsys_extent {
    uint64_t offset;
    uint32_t length; /* bytes of data; in the message, the data of all extents follow each other */
};

/* A request.  enum rsys_op lists the fields that each operation uses; other fields are not sent and
 * are 0 after decoding.  Pointers are borrowed from the caller or from the decoded buffer. */
struct rsys_request {
    uint16_t op;   /* enum rsys_op */
    uint16_t slot; /* number of the request slot, from 0; 0 for HELLO */
    /* Number of the request in its slot: 1 for the first, then one more each time (0 after 2^32-1);
     * 0 for HELLO. */
    uint32_t seq;
    uint32_t flags;
    struct rsys_at at, to;
    struct rsys_text text;
    uint32_t how, mode;
    uint64_t offset, offset_to, length;
    /* for LOCK and FLUSH: a number by which the client identifies the lock's owner */
    uint64_t owner;
    uint32_t wait_ms;
    struct rsys_attr attr;
    /* For RSYS_OPEN_SAME: rsys_reply.birth from the reply to the file's first OPEN; 0: do not
     * compare. */
    uint64_t birth;
    struct rsys_lock lock;
    uint16_t slot_of;
    uint32_t seq_of;
    /* Version of the protocol (RSYS_VERSION).  The fields version, slots and session are used only
     * in HELLO. */
    uint32_t version;
    uint32_t slots; /* number of request slots that the client wants */
    /* Id of the session to be resumed; all bytes zero: begin a new session. */
    unsigned char session[RSYS_SESSION_SIZE];
    uint16_t extent_count;
    struct rsys_extent extents[RSYS_EXTENTS_MAX];
    const void *data;
    size_t data_length;
};

/* A reply.  A negative status is a negative errno (Linux numbers on x86-64); then there are no more
 * fields, except for -ELOOP (a symbolic link in the path): value: bytes of the path up to and
 * including the link's name; text: the link's text; how: 1 if the link is in the path of
 * rsys_request.to, 0 if the link is in the path of rsys_request.at. */
struct rsys_reply {
    uint16_t op;
    uint16_t slot;
    uint32_t seq;
    int32_t status;
    uint64_t handle;
    uint64_t value;
    uint32_t how;
    struct rsys_text text;
    struct rsys_attr attr; /* attributes of the file; mode 0: not known */
    uint64_t birth;        /* when the file was made, in ns since 1970; 0: not known */
    struct rsys_statfs statfs;
    struct rsys_lock lock;
    /* Version of the protocol.  This field and those up to session are used only in the reply to
     * HELLO, which has the roots in data (rsys_root_next()). */
    uint32_t version;
    uint32_t slots;    /* number of request slots that the server allows */
    uint32_t lease_ms; /* the session ends when the client is silent for longer, milliseconds */
    uint32_t data_max; /* most bytes of data in a message; at most RSYS_DATA_MAX */
    uint32_t uid, gid; /* user and group id of the server process */
    unsigned char session[RSYS_SESSION_SIZE];
    uint16_t extent_count;
    struct rsys_extent extents[RSYS_EXTENTS_MAX];
    const void *data;
    size_t data_length;
};

/* Encodes the header and fields of a request into out[0..size).  The caller sends the data right
 * after them, so that the data need not be copied.  Returns the number of bytes written; -EINVAL:
 * the operation is unknown, or a text, path or number is out of bounds, so that the server would
 * refuse it; -EMSGSIZE: size is too small (RSYS_FIELDS_MAX always suffices). */
int rsys_encode_request(const struct rsys_request *request, void *out, size_t size);
/* Encodes the header and fields of a reply into out[0..size).  The caller sends the data right
 * after them.  Returns the number of bytes written; -EINVAL: the operation is unknown (and the
 * status is not an error), or a text or number is out of bounds; -EMSGSIZE: size is too small
 * (RSYS_FIELDS_MAX always suffices). */
int rsys_encode_reply(const struct rsys_reply *reply, void *out, size_t size);

/* Returns the length, data included, of the message whose first `length` bytes are in in[].  0: not
 * known yet (fewer than RSYS_HEADER_SIZE bytes).  -EMSGSIZE: the length that the message states
 * is impossible, so the caller must close the connection. */
int64_t rsys_frame_length(const void *in, size_t length);

/* Decodes a whole request.  Returns 0; or -EBADMSG: it is malformed, and only op (as received),
 * slot, seq and flags of *ret are set. */
int rsys_decode_request(const void *in, size_t length, struct rsys_request *ret);
/* Decodes a whole reply.  Returns 0; or -EBADMSG: it is malformed, and only op (as received), slot,
 * seq and status of *ret are set. */
int rsys_decode_reply(const void *in, size_t length, struct rsys_reply *ret);

/* Returns whether the path follows the rules of struct rsys_at: no name in it is empty, "." or ".."
 * or too long. */
bool rsys_path_is_good(const char *path, size_t length);
/* Splits a path after its last '/'.  Returns the length of the directory part (0 when there is
 * none); *name is the offset of the last name. */
size_t rsys_path_split(const char *path, size_t length, size_t *name);

/* Returns whether the server may execute the operation twice without harm.  If so, replies to it
 * are not remembered, and a repeated request is executed again. */
bool rsys_op_is_repeatable(uint16_t op);
const char *rsys_op_name(uint16_t op); /* returns the operation's name: "OPEN"; "?" if unknown */

/* ---- lists in data --------------------------------------------------------------------------- */

/* A directory entry in the data of a reply to READDIR. */
struct rsys_entry {
    uint64_t cookie; /* position of the entry after this one: offset for the next READDIR */
    uint64_t ino;
    uint32_t type; /* DT_* of <dirent.h> */
    struct rsys_text name;
    bool has_attr;
    struct rsys_attr attr;
};
#define RSYS_ENTRY_MAX 512 /* most bytes of an encoded entry */

/* Encodes an entry at out[*at..size), and adds its length to *at.  Returns false, with nothing
 * changed, if there is no room. */
bool rsys_entry_put(void *out, size_t size, size_t *at, const struct rsys_entry *entry);
/* Decodes the entry at in[*at..length), and adds its length to *at.  Returns 1; 0: there are no
 * more entries; -EBADMSG: malformed. */
int rsys_entry_next(const void *in, size_t length, size_t *at, struct rsys_entry *ret);

/* A root in the data of a reply to HELLO: a directory of the server, with handle `number`, that the
 * job sees at the absolute path `view`. */
struct rsys_root {
    uint32_t number;
    uint32_t flags; /* RSYS_ROOT_READONLY or 0 */
    struct rsys_text view;
};
#define RSYS_ROOT_READONLY 1U

bool rsys_root_put(void *out, size_t size, size_t *at, const struct rsys_root *root);
int rsys_root_next(const void *in, size_t length, size_t *at, struct rsys_root *ret);

#endif
