/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a job from a program in C, or in any language that can call C. What the main task may do is in shoal/core.h.
 *   static int start(void* argument) { ...; return 0; }
 *   int main(int argc, char** argv) { return shoal_run(&argc, argv, start, NULL); }
 * Who may call: the program's main thread, which it blocks. Not a task.
 * Shown by tests/install/core_program/main.c.
 */
#ifndef SHOAL_CORE_RUN_H
#define SHOAL_CORE_RUN_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Runs `main_task(argument)` as the main task of a job, on node 0, and returns when the job has ended. The other nodes
 * serve node 0 until then. It is shoal::run (shoal/run.hpp) for C: the same rules say how often it may be called.
 *
 * `argc`, `argv`: the program's arguments; settings written as --shoal-NAME=VALUE are taken out, for instance
 * --shoal-nodes=2. `argc` may be NULL: then there are no arguments, and settings come from the environment
 * (SHOAL_NODES=2). Both stay the caller's.
 * `argument`: passed to the main task as it is; stays the caller's.
 *
 * Returns what the main task returned, on node 0 (1 if that is not within 0..255); 0 on other nodes; 1, after a message on standard error, if the job
 * could not start or an exception left the main task.
 */
int shoal_run(int* argc, char** argv, int (*main_task)(void* argument), void* argument);

#ifdef __cplusplus
}
#endif

#endif
