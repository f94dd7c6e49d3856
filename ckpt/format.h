/* ckpt/format.h - the layout of a checkpoint image of a job.
 *
 * An image is an executable for the job's kind of machine: running it resumes the job.  The image
 * begins with the stub (ckpt/stub), the program that resumes the job.  The tables described here
 * say what the job consists of.  The contents of memory, and of files without a name, are on pages
 * of their own.
 *
 *     offset 0        ELF header and program headers (CKPT_STUB_OFFSET bytes)
 *     ...             the stub: a flat program that finds everything by its own address
 *     tables_offset   struct ckpt_head, then the tables, each an array of one of the structs below
 *     ...             contents: extents, at multiples of CKPT_PAGE; absent pages are not stored
 *
 * The kernel maps stub and tables to addresses that the job does not use, the window, and runs the
 * stub, which maps the rest itself.  A job that was resumed keeps the window.  The job's next image
 * does not store that window; when resumed, it has its own window at the same addresses.
 *
 * All fields have a fixed width and are little-endian, as the machine is.  They refer to other
 * things by index or by offset, never by pointer.  A text is an offset in the table of texts, where
 * it ends with a zero; offset 0 is "", which means none.
 *
 * Read images with image.h, which checks everything.  The stub reads only the tables of its own
 * image, and checks only their checksum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FORMAT_H
#define CKPT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define CKPT_MAGIC       "ROOSTCK\x01"
#define CKPT_VERSION     1
#define CKPT_PAGE        4096U
#define CKPT_STUB_OFFSET 4096U /* offset of the stub, both in the image and in the window */
/* Bytes of the stack that a thread uses while it runs the stub's code; the thread's extended
 * registers lie above the stack. */
#define CKPT_STACK 16384U
/* Bytes in the window to which the kernel's own pages (vdso, vvar) are moved while the stub maps
 * the job's memory. */
#define CKPT_PARKING (64U * CKPT_PAGE)

/* Limits: a file that exceeds one of the following _MAX values is not accepted as an image. */
/* Most bytes of the stub, together with the page before it (the ELF headers). */
#define CKPT_STUB_MAX      (1U << 20)
#define CKPT_TABLES_MAX    (1U << 30)
#define CKPT_PROCESSES_MAX 4096U
#define CKPT_THREADS_MAX   65536U
#define CKPT_XSTATE_MAX    16384U
#define CKPT_COMPONENTS    20U /* components of extended registers that an image has room for */

enum ckpt_table {
    CKPT_PROCESSES,
    CKPT_REGIONS,
    CKPT_EXTENTS,
    CKPT_THREADS,
    CKPT_FDS,
    CKPT_FILES,
    CKPT_ACTIONS,
    CKPT_SIGNALS,
    CKPT_TIMERS,
    CKPT_LIMITS,
    CKPT_AUXV,
    CKPT_XSTATES,
    CKPT_TEXTS,
    CKPT_WATCHES,
    CKPT_LOCKS,
    CKPT_TABLES
};

struct ckpt_span { /* consecutive entries of a table: index of the first, and their number */
    uint32_t first, count;
};

struct ckpt_array {  /* where a table lies */
    uint64_t offset; /* bytes from the beginning of struct ckpt_head */
    uint64_t count;
};

struct ckpt_component { /* where a component of the extended registers lies; bytes 0: not present */
    uint32_t offset, bytes;
};

struct ckpt_xstate_layout {
    uint64_t features; /* components that the kernel lets programs use, bits as in XCR0 */
    struct ckpt_component components[CKPT_COMPONENTS];
};
/* Flag of a delta: the image holds only the memory that has changed since another image, its base,
 * was made, and cannot be run.  Merged with its base it gives the whole image that would have been
 * made instead, with the id of the delta: so the next delta can be merged with the result. */
#define CKPT_DELTA 0x1U

struct ckpt_head { /* the beginning of the tables */
    char magic[8];
    uint32_t version;
    uint32_t head_bytes;
    uint64_t tables_bytes;         /* size of head and tables together */
    uint64_t sum;                  /* CRC32C of head and tables, computed with 0 in this field */
    uint64_t window, window_bytes; /* address and size of the window */
    /* Address, in the window, of the stacks that the threads use while they run the stub's code.
     * Each has CKPT_STACK bytes, and the thread's extended registers above. */
    uint64_t stacks;
    uint64_t stack_bytes; /* size of one of the stacks, with the extended registers */
    /* Address, in the window, of the page that all processes of the job share while they are
     * resumed, to wait for each other (struct stub_meeting). */
    uint64_t meeting;
    /* address in the window of CKPT_PARKING bytes for the kernel's pages (vdso, vvar) */
    uint64_t parking;
    uint64_t image_bytes;
    uint64_t memory_bytes; /* bytes of the job's memory that are stored in the image */
    int64_t made_s;        /* when the image was made, seconds since 1970 */
    uint32_t xstate_bytes; /* size of each thread's extended registers */
    /* Set of registers that the dynamic linker of the job's programs has room to save, bits as in
     * XCR0 (machine_linker_room()). */
    uint32_t linker_room;
    struct ckpt_xstate_layout xstate; /* layout of the extended registers of all threads */
    uint32_t machine[12];             /* CPUID words at the job's start: enum machine_word */
    int64_t clocks_ns[2]; /* CLOCK_MONOTONIC, CLOCK_BOOTTIME when the job was stopped; 0: unknown */
    uint32_t kernel;      /* offset of a text: release of the kernel on which the image was made */
    uint32_t host;        /* offset of a text: name of the machine on which the image was made */
    /* Index, in the table of processes, of the process that has this copy of the head in its
     * memory; only set in a resumed process. */
    uint32_t self;
    uint32_t code_sum; /* CRC32C of the stub; 0: unknown (images of older versions) */
    uint64_t id;       /* random: identifies this image */
    uint64_t base_id;  /* for a delta: id of its base */
    uint32_t base;     /* offset of a text: for a delta: file name of its base; else "" */
    uint32_t flags;    /* CKPT_DELTA or 0 */
    struct ckpt_array tables[CKPT_TABLES];
};

#define CKPT_NOBODY UINT32_MAX /* index of a process that means: no process of the image */

#define CKPT_STOPPED 0x1U /* flag of a process that was stopped by a signal, such as SIGSTOP */
/* Flag of a process that has ended and that its parent has not waited for yet: only its pid, pgid,
 * sid and status are set. */
#define CKPT_ZOMBIE 0x2U

/* Where the parts of a program lie in its memory: addresses, as the kernel keeps them for
 * /proc/PID/stat and takes them with prctl(PR_SET_MM_MAP). */
struct ckpt_layout {
    uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
    uint64_t arg_start, arg_end, env_start, env_end;
};

struct ckpt_process { /* a process; parents come before their children */
    int32_t pid;
    uint32_t parent;   /* its parent's index; CKPT_NOBODY: the keeper, process 1 of the namespace */
    int32_t pgid, sid; /* its process group and session; 0: outside of the job */
    uint32_t flags;
    int32_t status; /* if CKPT_ZOMBIE: its wait status, as from wait(2) */
    uint32_t umask;
    int32_t exit_signal;
    /* offsets of texts: paths of the program, the working and the root directory */
    uint32_t exe, cwd, root;
    uint32_t command; /* offset of a text: name (comm) of the first thread */
    struct ckpt_span regions, threads, fds, actions, signals, timers, limits, auxv;
    struct ckpt_layout layout;
    /* Addresses and sizes of the kernel's code (vdso) and its data (vvar) in the process; 0:
     * none. */
    uint64_t vdso, vdso_bytes, vvar, vvar_bytes;
    uint64_t vdso_sum; /* CRC32C of the vdso */
    uint32_t dumpable, no_new_privs, subreaper, thp_disable;
    int32_t death_signal;
    uint32_t personality;
    /* Components of the extended registers that the kernel permits the process to use
     * (ARCH_GET_XCOMP_PERM), bits as in XCR0; 0: not known. */
    uint64_t xstate_allowed;
    /* The timers of setitimer(): ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF; of each the interval in
     * seconds and microseconds, and the time left in seconds and microseconds. */
    int64_t itimers[3][4];
};
_Static_assert(sizeof(struct ckpt_process) == 368 && offsetof(struct ckpt_process, layout) == 112 &&
                   offsetof(struct ckpt_process, vdso) == 200,
               "images of older versions have processes of this layout");

enum ckpt_region_kind {
    CKPT_MEMORY = 1, /* private memory: the extents hold its contents; the rest is zeroes */
    CKPT_MAPPED,     /* mapped from an existing file: `file` and map_offset say which, and where */
    CKPT_SHARED_MEMORY, /* memory that processes share: entry `id` of the table of files */
    CKPT_VDSO,          /* the kernel's code (vdso); saved because another kernel's code differs */
    CKPT_VVAR
};

#define CKPT_SHARED     0x01U
#define CKPT_GROWSDOWN  0x02U
#define CKPT_DONTFORK   0x04U
#define CKPT_WIPEONFORK 0x08U
#define CKPT_DONTDUMP   0x10U
#define CKPT_NORESERVE  0x20U
/* Flag of memory that was a mapping of a file, such as program code: when the job is resumed, its
 * pages may be mapped from the image. */
#define CKPT_WAS_FILE  0x40U
#define CKPT_HUGE      0x80U
#define CKPT_NOHUGE    0x100U
#define CKPT_LOCKED    0x200U
#define CKPT_MAY_WRITE 0x1000U /* flag of a mapping that mprotect() can make writable */

struct ckpt_region {
    uint64_t start, end;
    uint64_t map_offset;
    uint64_t id;   /* of shared memory: index in the table of files */
    uint32_t prot; /* PROT_READ, PROT_WRITE, PROT_EXEC, as for mmap() */
    uint32_t flags;
    uint32_t kind;
    uint32_t file; /* offset of a text: path of the mapped file */
    struct ckpt_span extents;
};

/* Flag of an extent of memory in a delta: the contents are those of the base image, in the process
 * with the same process number, at the same address; zeroes where the base has nothing.  The delta
 * holds neither bytes nor a checksum for the extent. */
#define CKPT_IN_BASE 0x1U

struct ckpt_extent { /* stored contents: pages of memory, or bytes of a file without a name */
    uint64_t start;  /* address in the process, or offset in the file */
    uint64_t bytes;
    uint64_t offset; /* offset of the contents in the image */
    uint32_t sum;    /* CRC32C of the bytes */
    uint32_t flags;  /* CKPT_IN_BASE or 0 */
};

struct ckpt_registers { /* a thread's registers, as in struct user_regs_struct of x86-64 */
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip;
    uint64_t cs, eflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

/* How a wait with a time limit (a sleep) goes on after a checkpoint with the rest of its time.  The
 * system call is issued by code in the stub, at offset CKPT_WAIT_AT.  The rest of its time is in
 * the record, struct ckpt_wait, which lies on the thread's stack below the red zone.  Either the
 * kernel updates the record whenever the call is interrupted, or the record says when the call must
 * end.  After the call the code loads the registers that the job expects and returns to the job.  A
 * job that continues after an image without having been resumed gets a page with the same code when
 * it needs that code (tracee_wait_linux.c).  The code, its offset and the record are the same in
 * all versions, because a signal handler of the job may return to the code in a later image. */
#define CKPT_WAIT_AT    64U /* offset, in the stub, of the code that continues a wait */
#define CKPT_WAIT_BYTES 48U /* size of the code at CKPT_WAIT_AT, with the jump at its end */
#define CKPT_WAIT_JUMP  3U  /* size of the jump to r11 that ends the code at CKPT_WAIT_AT */
/* Distance in bytes from the record (struct ckpt_wait) up to the stack pointer of the job's code:
 * the size of the record and of the red zone above. */
#define CKPT_WAIT_ROOM     224U
#define CKPT_SYSCALL_BYTES 2U /* size of a system call instruction */

/* The record of an interrupted wait (a system call) that must go on with the rest of its time. */
struct ckpt_wait {
    int64_t left_s, left_ns;
    uint64_t rdi, rsi, rdx, r10, r8, r9, rip; /* the registers when the job made the system call */
    uint64_t number;                          /* number of the job's system call */
    /* When the wait must end, ns on the job's CLOCK_MONOTONIC; 0: the kernel itself keeps left_s
     * and left_ns of this record up to date. */
    int64_t until_ns;
    uint64_t pad;
};

struct ckpt_thread {
    int32_t tid;
    uint32_t command;                /* offset of a text: name (comm) of the thread */
    struct ckpt_registers registers; /* registers with which the thread continues */
    uint32_t xstate;                 /* offset of the thread's extended registers in their table */
    uint32_t rseq_bytes, rseq_signature, rseq_flags;
    uint64_t rseq;                 /* address of the thread's area for rseq(2); 0: none */
    uint64_t robust, robust_bytes; /* list of robust mutexes, as for set_robust_list(2) */
    uint64_t clear_tid;
    uint64_t mask; /* set of blocked signals: bit 0 is signal 1 */
    uint64_t altstack, altstack_bytes;
    uint32_t altstack_flags;
    uint32_t timer_slack; /* ns, as for prctl(PR_SET_TIMERSLACK); 0: the default */
    /* If the thread continues with a system call that waits: how much time is left of that wait;
     * left_s negative: not known, or there is no such wait. */
    int64_t left_s, left_ns;
    struct ckpt_span signals; /* the signals that are pending for this thread */
};

/* Kinds of open files.  The words id, value and detail below are fields of struct ckpt_file. */
enum ckpt_fd_kind {
    /* A file that is opened again by its path.  id: 0; or, for a standard stream of the job that
     * shares its open file with an earlier standard stream, 1 + the index of the earlier stream's
     * entry. */
    CKPT_FILE = 1,
    CKPT_NAMELESS, /* a removed file; id: index of the CKPT_MEMORY_FILE with its contents */
    /* A pipe or, if it has a path, a FIFO.  The data in it is stored in the entry of the first of
     * its reading ends. */
    CKPT_PIPE,
    /* A standard stream that cannot be saved: the job gets the same standard stream of the process
     * that resumes the job. */
    CKPT_STDIO,
    /* Contents without a name: memory that processes share, or a removed file.  The field id of
     * regions and open files with these contents is the index of this entry. */
    CKPT_MEMORY_FILE,
    /* Another opening of a file that is also a standard stream: the job gets standard stream
     * `detail` of the process that resumes it, opened once more. */
    CKPT_STDIO_AGAIN,
    /* One end of a socketpair; both ends have the same id.  Each message that waits to be read at
     * this end is an extent. */
    CKPT_SOCKET,
    CKPT_EPOLL,
    CKPT_EVENT, /* an eventfd; value: its count; detail: 1 if it is a semaphore */
    /* A timerfd; value: its unread expirations; detail: its flags of timerfd_settime(). */
    CKPT_CLOCK,
    CKPT_SIGNAL_FD, /* a signalfd; value: its set of signals */
    CKPT_INOTIFY,
    CKPT_PIDFD, /* a pidfd; value: the process number; 0: that process is gone */
    /* One end of a pseudo-terminal; all ends of the same pseudo-terminal have the same id.  Its one
     * extent holds a struct ckpt_terminal. */
    CKPT_TERMINAL,
    CKPT_FD_KINDS
};

#define CKPT_IN_MEMORY 0U /* ckpt_file.detail: a memory file that was a memfd or shared memory */
#define CKPT_ON_DISK   1U /* ckpt_file.detail: a memory file that was a file on disk, at `path` */

struct ckpt_fd { /* a descriptor */
    int32_t fd;
    /* Index of its open file in the table of files.  Descriptors with the same index share position
     * and flags, as after dup(). */
    uint32_t file;
    uint32_t cloexec;
    uint32_t pad;
};

struct ckpt_file { /* an open file description, which several descriptors can share */
    uint32_t kind;
    uint32_t path;       /* offset of a text: path of the file, if it has one */
    uint32_t flags;      /* as for open(), without O_CREAT, O_EXCL, O_TRUNC */
    uint32_t mode;       /* type and permissions, as st_mode of stat() */
    uint32_t pipe_bytes; /* capacity of a pipe in bytes */
    /* 1, 2, 3: the job was started with this open file as descriptor 0, 1, 2; 0: it was not. */
    uint32_t stdio;
    uint64_t offset; /* position in the file */
    uint64_t bytes;  /* size of the file when the image was made */
    uint64_t id;     /* the meaning depends on `kind`: see enum ckpt_fd_kind */
    struct ckpt_span extents;
    /* This field and all following fields are used for some kinds only (enum ckpt_fd_kind). */
    uint64_t value;
    uint32_t detail;
    int32_t clock; /* of a timerfd: which clock it uses */
    /* Of a timerfd: its interval, and the time until it expires; if it is set to a fixed time
     * (TFD_TIMER_ABSTIME on CLOCK_REALTIME), left_s and left_ns are that time since 1970. */
    int64_t interval_s, interval_ns, left_s, left_ns;
    uint32_t seals;       /* of a memory file: its seals, as from F_GET_SEALS */
    uint32_t type;        /* of a socket: SOCK_STREAM ... */
    uint32_t sends;       /* of a socket: value of SO_SNDBUF */
    uint32_t receives;    /* of a socket: value of SO_RCVBUF */
    uint32_t passes;      /* of a socket: value of SO_PASSCRED */
    uint32_t shut;        /* of a socket: bits: 1: shut down for reading, 2: for writing */
    uint32_t owner_kind;  /* kind of `owner`, which gets SIGIO, as for fcntl(F_SETOWN_EX) */
    int32_t owner;        /* number of the process, thread or group that gets SIGIO; 0: nobody */
    int32_t owner_signal; /* the signal that `owner` gets instead of SIGIO: F_SETSIG; 0: SIGIO */
    uint32_t pad;
    int64_t limits_us[2]; /* of a socket: SO_RCVTIMEO, SO_SNDTIMEO, microseconds; 0: no limit */
};

#define CKPT_SLAVE  0U /* ckpt_file.detail: the slave end of a terminal */
#define CKPT_MASTER 1U /* ckpt_file.detail: the master end of a terminal */

#define CKPT_TERMINAL_PACKETS 0x1U /* the master is in packet mode: TIOCPKT */
#define CKPT_TERMINAL_LOCKED  0x2U /* the slave cannot be opened: TIOCSPTLCK */
#define CKPT_TERMINAL_LEFT    0x4U /* the slave was open before, and no process has it open now */
#define CKPT_TERMINAL_HUNG_UP 0x8U /* no process has the master open any more */

struct ckpt_terminal {    /* a pseudo-terminal */
    uint8_t settings[44]; /* the kernel's struct termios2 */
    uint16_t window[4];   /* the kernel's struct winsize */
    uint32_t flags;
    /* The session whose controlling terminal this is, and the foreground process group; 0: none. */
    int32_t session, group;
};

struct ckpt_watch { /* one thing that an epoll or inotify watches */
    uint32_t in;    /* index of the epoll or inotify in the table of files */
    uint32_t file;  /* for epoll: index of the watched open file; for inotify: CKPT_NOBODY */
    /* Index of the process that must add this watch when the job is resumed; CKPT_NOBODY: it is
     * added before the job's processes exist. */
    uint32_t process;
    /* For epoll: the descriptor by which the file was added; for inotify: the watch descriptor. */
    int32_t number;
    uint32_t events;
    uint32_t path; /* offset of a text: for inotify: path of the watched file */
    uint64_t data;
};

enum ckpt_lock_kind {
    CKPT_FLOCK = 1, /* flock(): held by an open file, on the whole file */
    CKPT_OFD_LOCK,  /* F_OFD_SETLK: held by an open file, on a range */
    CKPT_POSIX_LOCK /* F_SETLK: held by a process, on a range */
};

struct ckpt_lock {
    uint32_t kind;
    uint32_t file;
    uint32_t process;
    int32_t number;
    uint32_t writes; /* 1: exclusive */
    uint32_t pad;
    uint64_t start, bytes; /* the locked range; bytes 0: to the end of the file */
};

struct ckpt_action { /* how a signal is handled, as the kernel's struct sigaction */
    uint32_t signal, pad;
    uint64_t handler, flags, restorer, mask;
};

struct ckpt_signal {   /* a pending signal */
    uint8_t info[128]; /* its siginfo_t */
};

struct ckpt_timer { /* a timer of timer_create() */
    int32_t id, clock, notify, signal;
    int32_t tid; /* for SIGEV_THREAD_ID: the thread that gets the signal; else 0 */
    uint32_t pad;
    uint64_t value; /* sigev_value */
    /* Its interval, and the time until it expires; left_s and left_ns both 0: it is not armed. */
    int64_t interval_s, interval_ns, left_s, left_ns;
};

struct ckpt_limit {
    uint32_t resource, pad;
    uint64_t soft, hard;
};

#endif
