// SPDX-License-Identifier: Apache-2.0
// Wrappers that are written by hand: completion, probes and exchanges (progress.cpp), start and end (start.cpp),
// windows (window.cpp), blocking group operations (section.cpp), small collectives (collective.cpp). Large-count versions are overloads.
// Who may call: the generated wrappers.
#pragma once

#include <mpi.h>

namespace shoal::mpi_threads::own {

int Wait(MPI_Request* request, MPI_Status* status);
int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status);
int Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);
int Test(MPI_Request* request, int* flag, MPI_Status* status);
int Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);
int Request_get_status(MPI_Request request, int* flag, MPI_Status* status);
int Request_free(MPI_Request* request);
int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);
int Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);
#if MPI_VERSION >= 4
int Parrived(MPI_Request request, int partition, int* flag);
#endif
int Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
             MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status);
int Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                     MPI_Comm comm, MPI_Status* status);
#if MPI_VERSION >= 4
int Recv_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int Sendrecv_c(const void* out, MPI_Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
               MPI_Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status);
int Sendrecv_replace_c(void* buffer, MPI_Count count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                       MPI_Comm comm, MPI_Status* status);
#endif

int Barrier(MPI_Comm comm);
int Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int Allreduce(const void* out, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
#if MPI_VERSION >= 4
int Bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
int Allreduce_c(const void* out, void* into, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
#endif

int Win_lock(int type, int rank, int assertion, MPI_Win win);
int Win_unlock(int rank, MPI_Win win);
int Win_lock_all(int assertion, MPI_Win win);
int Win_unlock_all(MPI_Win win);
int Win_post(MPI_Group group, int assertion, MPI_Win win);
int Win_start(MPI_Group group, int assertion, MPI_Win win);
int Win_wait(MPI_Win win);
int Win_test(MPI_Win win, int* flag);
int Win_free(MPI_Win* win);
int File_close(MPI_File* file);

int Comm_dup(MPI_Comm comm, MPI_Comm* made);
int Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made);
int Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made);
int Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made);
int Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made);
int Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag, MPI_Comm* made);
int Comm_disconnect(MPI_Comm* comm);

}  // namespace shoal::mpi_threads::own

namespace shoal::mpi_threads::always {

int Init(int* argc, char*** argv);
int Init_thread(int* argc, char*** argv, int required, int* provided);
int Query_thread(int* provided);
int Finalize();
int Abort(MPI_Comm comm, int code);

}  // namespace shoal::mpi_threads::always
