/* ckpt/library/roost_checkpoint.h - a program that was linked with roost-compile has images made of
 * itself.
 *
 * An image is a file that holds the whole job (this process and those that descend from it) and is
 * itself a program: run it, and the job goes on where it was.  None of these functions is needed:
 * without a call of any of them, signals and the environment ask for images.
 *
 *     SIGUSR2                        an image, and the job goes on
 *     SIGTSTP                        an image, and the job ends (by SIGUSR2)
 *     ROOST_CHECKPOINT_INTERVAL=600  an image every 600 seconds
 *     ROOST_CHECKPOINT_FILE=PATH     where; else PROGRAM.ckpt in the directory it was started in
 *     ROOST_CHECKPOINT_LOG=PATH      gets a line for each image that was made, or was not
 *
 * Both signals are taken by a thread of the library, so that no system call of the program ends
 * with EINTR; they are blocked in all others and in what is started from there.  A program that has
 * another use for them cannot be linked with this library.
 *
 * A program that is started by such a program is part of its job, and of its images: if it was
 * linked so, too, it makes none of its own (it finds ROOST_CHECKPOINT_JOB, which that one sets).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_ROOST_CHECKPOINT_H
#define CKPT_LIBRARY_ROOST_CHECKPOINT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an image now, of all threads and processes of the job; returns when it is whole and
 * durable. 0  it was made, and the job goes on; 1  the job was resumed from it: the same call
 * returns a second time, in another life; a negative errno: none was made (roost_checkpoint_error()
 * tells why), and the one before it, if there is one, is as it was.  -EBUSY: in a section that
 * roost_checkpoint_disable() began, in a hook, or in a handler of a signal that came to this thread
 * while it makes one; other handlers may ask. -EPERM: asked by a child; only the process that the
 * job began as may ask, not what it starts. */
int roost_checkpoint(void);

/* Between them no image is made, whoever asks: it is made after the last section has ended.  They
 * nest, and belong to the thread that calls them.  The first one waits for an image that is just
 * being begun (milliseconds).  Handlers of signals may have some, too; but one that comes to the
 * thread that makes an image, while it does, is in the image wherever it was. */
void roost_checkpoint_disable(void);
void roost_checkpoint_enable(void);

/* Called around each image that the library makes: before it; after it, in the job that goes on,
 * with what roost_checkpoint() will return; resumed, instead of after, in a job that was resumed
 * from it.  Each may be NULL.  For roost_checkpoint(), in the thread that called it; for signals
 * and the interval, in a thread of the library: so a program with hooks has threads, and ends up to
 * a second later if its first thread left by pthread_exit().  0, or a negative errno when that
 * thread cannot be made.  Images that others make (`roost-ckpt dump`) call none. */
int roost_checkpoint_hooks(void (*before)(void *arg), void (*after)(void *arg, int result),
                           void (*resumed)(void *arg), void *arg);

/* An image every so many seconds; 0: none. */
void roost_checkpoint_interval(unsigned seconds);

/* Where the next images go.  0, or -ENAMETOOLONG. */
int roost_checkpoint_file(const char *path);

/* Why the latest image was not made, in one line; "" when it was.  Valid until the next one. */
const char *roost_checkpoint_error(void);

#ifdef __cplusplus
}
#endif

#endif
