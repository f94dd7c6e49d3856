/* ckpt/library/roost_checkpoint.h - makes checkpoint images of a program that was linked with
 * roost-compile.
 *
 * An image is a file that holds the whole job (this process and its descendants) and is itself a
 * program: run it, and the job continues where it was.  A program need not call any of these
 * functions: signals and the environment ask for images, too.
 *
 *     SIGUSR2                        makes an image, and the job continues
 *     SIGTSTP                        makes an image, and the job ends (by SIGUSR2)
 *     ROOST_CHECKPOINT_INTERVAL=600  an image every 600 seconds
 *     ROOST_CHECKPOINT_FILE=PATH     file for the image; default: PROGRAM.ckpt in the directory in
 *                                    which the program was started
 *     ROOST_CHECKPOINT_LOG=PATH      file that gets a line for each image that was made, or failed
 *
 * A thread of the library takes both signals, so that no system call of the program ends with
 * EINTR. They are blocked in all other threads, and in programs that these start.  A program that
 * uses one of these signals itself cannot be linked with this library.
 *
 * A program that is started by such a program belongs to the same job and its images.  If it was
 * linked with the library as well, it makes no images of its own: it finds ROOST_CHECKPOINT_JOB,
 * which the first program has set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_ROOST_CHECKPOINT_H
#define CKPT_LIBRARY_ROOST_CHECKPOINT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an image now, of all threads and processes of the job, and returns when the image is
 * complete and durable.  Returns 0: the image was made, and the job continues.  Returns 1: the job
 * was resumed from the image; the same call returns a second time, in the resumed process.  Returns
 * a negative errno: no image was made (roost_checkpoint_error() tells why), and an earlier image is
 * unchanged.  -EBUSY: called in a section that roost_checkpoint_disable() began, in a hook
 * (roost_checkpoint_hooks()), or in the handler of a signal that interrupted this thread while it
 * was making an image; other signal handlers may call this function.  -EPERM: called in a child
 * process; only the process with which the job began may call it. */
int roost_checkpoint(void);

/* Pair: roost_checkpoint_disable() begins a section of the program in which no image is made;
 * roost_checkpoint_enable() ends it.  An image that is asked for meanwhile is made after the last
 * section has ended.  Sections nest, and belong to the calling thread.  If an image is just being
 * made when a thread begins its first section, roost_checkpoint_disable() waits until the program
 * may run again (milliseconds).  Signal handlers may have sections, too.  But a section of a signal
 * handler does not delay an image that the interrupted thread itself is making: that image may show
 * the handler in the middle of its section. */
void roost_checkpoint_disable(void);
void roost_checkpoint_enable(void);

/* Sets functions (hooks) that are called around each image that the library makes; each may be
 * NULL. before: called before the image is made. after: called after the image was made, in the job
 * that continues, with the result of roost_checkpoint(). resumed: called instead of `after` in a
 * job that was resumed from the image. arg: passed to each of them.  For an image that
 * roost_checkpoint() makes, they are called in the thread that called it; for an image that a
 * signal or the interval asks for, in a thread of the library.  So a program with hooks has several
 * threads; if its first thread leaves by pthread_exit(), the program ends up to a second later.  An
 * image that is made from outside (`roost-ckpt dump`) calls no hooks.  Returns 0; or a negative
 * errno if the library's thread cannot be made. */
int roost_checkpoint_hooks(void (*before)(void *arg), void (*after)(void *arg, int result),
                           void (*resumed)(void *arg), void *arg);

/* From now on, makes an image every so many seconds; 0: no images at intervals. */
void roost_checkpoint_interval(unsigned seconds);

/* Sets the file for the next images.  Returns 0; -ENAMETOOLONG: the path is too long. */
int roost_checkpoint_file(const char *path);

/* Returns why the latest image was not made, in one line; "" if it was made.  Valid until the next
 * image. */
const char *roost_checkpoint_error(void);

#ifdef __cplusplus
}
#endif

#endif
