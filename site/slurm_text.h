/* site/slurm_text.h - what Slurm's programs print, and what they are given.
 *
 * Pure.  Glideins are listed by squeue with fields of our choice, one line for each task of an
 * array.  Rejected: --json, which has pending tasks of an array as one record with a list that
 * Slurm cuts ("1-9,12,..."), whose form differs from version to version, and which is a hundred
 * times as long.  With all states squeue also shows what has ended within MinJobAge.
 *
 * Sources: squeue(1), sbatch(1), scancel(1) of Slurm 22.05.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SLURM_TEXT_H
#define SITE_SLURM_TEXT_H

#include <stdint.h>

#include "site/batch_text.h"
#include "site/site.h"

/* The argument of squeue --Format that gives the lines of slurm_text_task(). */
#define SLURM_TEXT_FORMAT "ArrayJobID:|,ArrayTaskID:|,Name:|,State:|,exit_code:|,Reason:|"

/* Reads the line at *at, and moves *at to the next one.  Returns 1; 0 at the end; -EPROTO: a line
 * that is not a task of an array with the name of a batch. */
int slurm_text_task(const char **at, struct batch_task *ret);

/* Says what the last line of the standard error of a program that failed means. */
enum site_result slurm_text_refusal(const char *complaint);
/* Returns MaxArraySize of the output of "scontrol show config"; 0: it is not there. */
int64_t slurm_text_array_max(const char *config);
/* Returns 0; or -EINVAL with err: not a word "--name=value" that may be given to sbatch besides
 * what this program gives itself. */
int slurm_text_extra(const char *word, struct err *err);

#endif
