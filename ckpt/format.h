/* ckpt/format.h - what is in the image of a job.
 *
 * The image is an executable of the job's machine: running it resumes the job.  Its first part is
 * the program that does so (ckpt/stub), its second one these tables, and behind them lie, on pages
 * of their own, the contents of memory and of files that have no name any more.
 *
 *     offset 0        ELF header and program headers (CKPT_STUB_OFFSET bytes)
 *     ...             the stub: a flat program that finds all by its own address
 *     tables_offset   struct ckpt_head, then the tables, each an array of one of the structs below
 *     ...             contents: extents, at multiples of CKPT_PAGE; absent pages are not there
 *
 * The kernel maps stub and tables to an address that the job does not use, the window, and runs
 * the stub, which maps the rest itself.  A job that was resumed keeps the window; its next image
 * leaves it out and, being at the same place, replaces it.
 *
 * Everything has a fixed width, is little-endian as the machine, and refers to other things by
 * index or by offset, never by pointer.  A text is an offset in the table of texts, where it ends
 * with a zero; offset 0 is "", which stands for none.
 *
 * Read with image.h, which checks everything; the stub, which only ever sees the tables that it was
 * built with, checks their sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FORMAT_H
#define CKPT_FORMAT_H

#include <stdint.h>

#define CKPT_MAGIC       "ROOSTCK\x01"
#define CKPT_VERSION     1
#define CKPT_PAGE        4096U
#define CKPT_STUB_OFFSET 4096U  /* in the image, and of the stub in the window */
#define CKPT_STACK       16384U /* what the stub has for each thread; extended state comes on top */
#define CKPT_PARKING     (64U * CKPT_PAGE) /* for the kernel's own pages, while memory is made */

/* Limits of what is taken for an image. */
#define CKPT_STUB_MAX      (1U << 20) /* with the page before it */
#define CKPT_TABLES_MAX    (1U << 30)
#define CKPT_PROCESSES_MAX 4096U
#define CKPT_THREADS_MAX   65536U
#define CKPT_XSTATE_MAX    16384U
#define CKPT_COMPONENTS    20U /* of extended states: as many as are known */

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

struct ckpt_span { /* of a table */
    uint32_t first, count;
};

struct ckpt_array {
    uint64_t offset; /* from the head */
    uint64_t count;
};

struct ckpt_component { /* of an extended state; bytes 0: there is none */
    uint32_t offset, bytes;
};

struct ckpt_xstate_layout {
    uint64_t features; /* as in XCR0 */
    struct ckpt_component components[CKPT_COMPONENTS];
};
/* The image holds only the memory that has changed since another one, its base, was made: it cannot
 * run.  Merged with that one it is the whole image that would have been made in its place, and
 * keeps its id: so the next delta is merged with what came of the last. */
#define CKPT_DELTA 0x1U

struct ckpt_head {
    char magic[8];
    uint32_t version;
    uint32_t head_bytes;
    uint64_t tables_bytes; /* head and tables */
    uint64_t sum;          /* CRC32C of these, with zero for itself */
    uint64_t window, window_bytes;
    uint64_t stacks; /* address, in the window: CKPT_STACK and an extended state for each thread */
    uint64_t stack_bytes; /* of one of them */
    uint64_t meeting;     /* address, in the window: a page that all processes share */
    uint64_t parking;     /* address, in the window, of CKPT_PARKING bytes */
    uint64_t image_bytes;
    uint64_t memory_bytes;            /* of extents of memory */
    int64_t made_s;                   /* since 1970 */
    uint32_t xstate_bytes;            /* of each thread's extended state */
    uint32_t linker_room;             /* machine_linker_room() */
    struct ckpt_xstate_layout xstate; /* of all of them */
    uint32_t machine[12];             /* what programs go by: enum machine_word */
    int64_t clocks_ns[2]; /* CLOCK_MONOTONIC, CLOCK_BOOTTIME when the job stood still; 0: unknown */
    uint32_t kernel;      /* text: release */
    uint32_t host;        /* text */
    uint32_t self;        /* in the memory of a resumed process only: its index */
    uint32_t code_sum;    /* CRC32C of the stub; 0: nobody knows it (images of older versions) */
    uint64_t id;          /* random: which image this is */
    uint64_t base_id;     /* of a delta: of the image that it was made against */
    uint32_t base;        /* text: the name of that one; none: this is a whole image */
    uint32_t flags;       /* CKPT_DELTA */
    struct ckpt_array tables[CKPT_TABLES];
};

#define CKPT_NOBODY UINT32_MAX /* no process of the image */

#define CKPT_STOPPED 0x1U /* by a signal */
#define CKPT_ZOMBIE \
    0x2U /* it has ended, and nobody has asked yet: pid, pgid, sid and status only */

struct ckpt_process { /* parents stand before their children */
    int32_t pid;
    uint32_t parent;   /* index; CKPT_NOBODY: the keeper */
    int32_t pgid, sid; /* 0: outside */
    uint32_t flags;
    int32_t status; /* of a zombie, as wait() gives it */
    uint32_t umask;
    int32_t exit_signal;
    uint32_t exe, cwd, root; /* texts */
    uint32_t command;        /* text: comm of the first thread */
    struct ckpt_span regions, threads, fds, actions, signals, timers, limits, auxv;
    uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
    uint64_t arg_start, arg_end, env_start, env_end;
    uint64_t vdso, vdso_bytes, vvar, vvar_bytes; /* 0: it has none */
    uint64_t vdso_sum;                           /* of the text as it was mapped */
    uint32_t dumpable, no_new_privs, subreaper, thp_disable;
    int32_t death_signal;
    uint32_t personality;
    uint64_t xstate_allowed; /* components that it asked for leave to use; 0: none */
    int64_t itimers[3][4];   /* real, virtual, prof: interval s, us; left s, us */
};

enum ckpt_region_kind {
    CKPT_MEMORY = 1,    /* what the extents hold, else zeroes */
    CKPT_MAPPED,        /* of a file that is there, which file and map_offset name */
    CKPT_SHARED_MEMORY, /* of the open file that id tells */
    CKPT_VDSO,          /* the kernel's own; contents are kept for a kernel that has another */
    CKPT_VVAR
};

#define CKPT_SHARED     0x01U
#define CKPT_GROWSDOWN  0x02U
#define CKPT_DONTFORK   0x04U
#define CKPT_WIPEONFORK 0x08U
#define CKPT_DONTDUMP   0x10U
#define CKPT_NORESERVE  0x20U
#define CKPT_WAS_FILE \
    0x40U /* private memory that was a file's: its pages may be mapped from the image */
#define CKPT_HUGE      0x80U
#define CKPT_NOHUGE    0x100U
#define CKPT_LOCKED    0x200U
#define CKPT_MAY_WRITE 0x1000U /* a shared mapping that can be made writable */

struct ckpt_region {
    uint64_t start, end;
    uint64_t map_offset;
    uint64_t id;   /* of shared memory: index in the table of files */
    uint32_t prot; /* as mmap's */
    uint32_t flags;
    uint32_t kind;
    uint32_t file; /* text */
    struct ckpt_span extents;
};

/* Of an extent: what the base has at that address, for the process of the same number, zeroes where
 * it has nothing.  Only of memory, only in a delta; neither bytes nor a sum are here. */
#define CKPT_IN_BASE 0x1U

struct ckpt_extent { /* a run of pages, or of bytes of a file without a name */
    uint64_t start;  /* address, or offset in the file */
    uint64_t bytes;
    uint64_t offset; /* in the image */
    uint32_t sum;    /* CRC32C of the bytes */
    uint32_t flags;  /* CKPT_IN_BASE */
};

struct ckpt_registers { /* as struct user_regs_struct of x86-64 */
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip;
    uint64_t cs, eflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

/* A sleep that is resumed is not slept in full once more.  The system call that waits is issued by
 * code of the stub, at CKPT_WAIT_AT, with what is left of it in the record, which lies on the
 * thread's stack below the red zone and which the kernel brings up to date whenever it is
 * interrupted, or which tells when it is to end; that code then loads the registers that the job
 * expects and goes back.  A job that goes on after an image, and that was not resumed, is given a
 * page with the same code when it needs one (tracee_wait_linux.c).  Code, place and record are as
 * here in all versions: a handler of the job's may return to it in a later image. */
#define CKPT_WAIT_AT       64U /* offset in the stub's code */
#define CKPT_WAIT_BYTES    48U /* of code; it ends with a jump to r11, of CKPT_WAIT_JUMP bytes */
#define CKPT_WAIT_JUMP     3U
#define CKPT_WAIT_ROOM     224U /* red zone and record */
#define CKPT_SYSCALL_BYTES 2U   /* of the instruction */

struct ckpt_wait { /* the record */
    int64_t left_s, left_ns;
    uint64_t rdi, rsi, rdx, r10, r8, r9, rip; /* of the job's own call */
    uint64_t number;
    int64_t until_ns; /* on the job's CLOCK_MONOTONIC; 0: what is left is up to date */
    uint64_t pad;
};

struct ckpt_thread {
    int32_t tid;
    uint32_t command;                /* text */
    struct ckpt_registers registers; /* such that the thread goes on when they are loaded */
    uint32_t xstate;                 /* offset in the table of extended states */
    uint32_t rseq_bytes, rseq_signature, rseq_flags;
    uint64_t rseq;                 /* address; 0: none */
    uint64_t robust, robust_bytes; /* the list of robust mutexes */
    uint64_t clear_tid;
    uint64_t mask; /* blocked signals */
    uint64_t altstack, altstack_bytes;
    uint32_t altstack_flags;
    uint32_t timer_slack;     /* ns; 0: as it comes */
    int64_t left_s, left_ns;  /* of the wait that registers are to issue; negative: not known */
    struct ckpt_span signals; /* pending for this thread */
};

enum ckpt_fd_kind {
    CKPT_FILE = 1,    /* opened by name; of 0 to 2, id is 0 or 1 and the index of its twin */
    CKPT_NAMELESS,    /* a removed file: what it holds is that memory file's which id tells */
    CKPT_PIPE,        /* with a path: one that has a name.  Contents at the first end that reads */
    CKPT_STDIO,       /* what the resuming process has there */
    CKPT_MEMORY_FILE, /* what has no name: memory that processes share, and removed files.  Regions
                         and open files have its index in id */
    CKPT_STDIO_AGAIN, /* another opening of what the resuming process has as number `detail` */
    CKPT_SOCKET,      /* an end of a socketpair; id is of the pair.  What waits to be read at it is
                         in extents, one for each message */
    CKPT_EPOLL,
    CKPT_EVENT,     /* eventfd: value is its count, detail 1: a semaphore */
    CKPT_CLOCK,     /* timerfd: value is how often it went off unread, detail its settime flags */
    CKPT_SIGNAL_FD, /* value is its mask */
    CKPT_INOTIFY,
    CKPT_PIDFD,    /* value is the number of the process; 0: one that is gone */
    CKPT_TERMINAL, /* an end of a pseudo-terminal; id is of the pair.  In extents is one struct
                      ckpt_terminal, of the pair */
    CKPT_FD_KINDS
};

/* detail of a memory file: where it was */
#define CKPT_IN_MEMORY 0U /* memfd, or memory without a file */
#define CKPT_ON_DISK   1U /* path tells where */

struct ckpt_fd {
    int32_t fd;
    uint32_t file; /* index in the table of files: who shares one shares offset and flags */
    uint32_t cloexec;
    uint32_t pad;
};

struct ckpt_file { /* an open file description */
    uint32_t kind;
    uint32_t path;       /* text */
    uint32_t flags;      /* as open()'s, without O_CREAT, O_EXCL, O_TRUNC */
    uint32_t mode;       /* st_mode */
    uint32_t pipe_bytes; /* how much it can hold */
    uint32_t stdio;      /* 1 to 3: the first process has it as 0 to 2 */
    uint64_t offset;     /* position */
    uint64_t bytes;      /* size when the image was made */
    uint64_t id;         /* which pipe */
    struct ckpt_span extents;
    /* of some kinds only */
    uint64_t value;
    uint32_t detail;
    int32_t clock; /* of a timerfd */
    /* of a timerfd; left is since 1970, if it is to go off at a time of the day */
    int64_t interval_s, interval_ns, left_s, left_ns;
    uint32_t seals;       /* of a memory file, as F_GET_SEALS tells */
    uint32_t type;        /* of a socket: SOCK_STREAM ... */
    uint32_t sends;       /* SO_SNDBUF */
    uint32_t receives;    /* SO_RCVBUF */
    uint32_t passes;      /* SO_PASSCRED */
    uint32_t shut;        /* 1: for reading, 2: for writing */
    uint32_t owner_kind;  /* who gets SIGIO: as F_SETOWN_EX */
    int32_t owner;        /* 0: nobody */
    int32_t owner_signal; /* F_SETSIG */
    uint32_t pad;
    int64_t limits_us[2]; /* of a socket: SO_RCVTIMEO, SO_SNDTIMEO; 0: for ever */
};

/* detail of an end of a terminal */
#define CKPT_SLAVE  0U
#define CKPT_MASTER 1U

#define CKPT_TERMINAL_PACKETS 0x1U /* TIOCPKT */
#define CKPT_TERMINAL_LOCKED  0x2U /* TIOCSPTLCK */
#define CKPT_TERMINAL_LEFT    0x4U /* all who had the slave open have closed it */
#define CKPT_TERMINAL_HUNG_UP 0x8U /* the master was closed */

struct ckpt_terminal {
    uint8_t settings[44]; /* struct termios2 of the kernel */
    uint16_t window[4];   /* struct winsize */
    uint32_t flags;
    int32_t session, group; /* whose controlling terminal it is, and who is in front; 0: nobody */
};

struct ckpt_watch {   /* an entry of an epoll's, or of an inotify's */
    uint32_t in;      /* which file has it */
    uint32_t file;    /* what an epoll watches; else CKPT_NOBODY */
    uint32_t process; /* who adds it; CKPT_NOBODY: before there are processes */
    int32_t number;   /* under which number the file was added; of an inotify's watch */
    uint32_t events;
    uint32_t path; /* text, of an inotify's */
    uint64_t data;
};

enum ckpt_lock_kind {
    CKPT_FLOCK = 1, /* of an open file */
    CKPT_OFD_LOCK,  /* the same, of a range */
    CKPT_POSIX_LOCK /* of a process, by that number */
};

struct ckpt_lock {
    uint32_t kind;
    uint32_t file;
    uint32_t process;
    int32_t number;
    uint32_t writes; /* 1: nobody else may have one */
    uint32_t pad;
    uint64_t start, bytes; /* 0: to the end, wherever that is */
};

struct ckpt_action { /* as the kernel's struct sigaction */
    uint32_t signal, pad;
    uint64_t handler, flags, restorer, mask;
};

struct ckpt_signal {   /* pending */
    uint8_t info[128]; /* siginfo_t */
};

struct ckpt_timer { /* of timer_create() */
    int32_t id, clock, notify, signal;
    int32_t tid; /* for SIGEV_THREAD_ID; 0: none */
    uint32_t pad;
    uint64_t value;                                   /* sigev_value */
    int64_t interval_s, interval_ns, left_s, left_ns; /* left 0: disarmed */
};

struct ckpt_limit {
    uint32_t resource, pad;
    uint64_t soft, hard;
};

#endif
