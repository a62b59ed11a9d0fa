! SPDX-License-Identifier: BSD-3-Clause
! Writes and reads a file by calls that MPI libraries implement with messages of their own, between
! one message of 16 bytes to the next rank of a ring and one Allreduce.
#if defined(WITH_F08)
#define INTERFACE use mpi_f08
#define DECLARATIONS
#define HANDLE(KIND) type(KIND)
#elif defined(WITH_MPI)
#define INTERFACE use mpi
#define DECLARATIONS
#define HANDLE(KIND) integer
#else
#define INTERFACE
#define DECLARATIONS include 'mpif.h'
#define HANDLE(KIND) integer
#endif
program files
  INTERFACE
  implicit none
  DECLARATIONS
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Comm) :: again
  HANDLE(MPI_Request) :: request
  integer :: rank, ranks, code
  integer(kind=MPI_OFFSET_KIND) :: there
  real(kind=8) :: own(4), theirs(4)
  character(len=1000) :: name

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, name)
  own = rank
  call MPI_Sendrecv(own, 2, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 0, theirs, 2, &
                    MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, code)
  call MPI_Comm_dup(MPI_COMM_WORLD, again, code)
  call MPI_File_open(again, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, &
                     code)
  there = 0
  call MPI_File_set_view(file, there, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'native', &
                         MPI_INFO_NULL, code)
  call MPI_File_write_ordered(file, own, 4, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
  there = 100 + 4 * rank
  call MPI_File_seek(file, there, MPI_SEEK_SET, code)
  call MPI_File_write_all(file, own, 3, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
  call MPI_File_write_shared(file, own, 1, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
  there = 4 * rank
  call MPI_File_write_at_all(file, there, own, 4, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
  call MPI_File_iwrite_at(file, there, own, 4, MPI_DOUBLE_PRECISION, request, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  call MPI_File_sync(file, code)
  call MPI_File_read_at_all(file, there, theirs, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, code)
  if (theirs(1) /= rank) call MPI_Abort(MPI_COMM_WORLD, 3, code)
  call MPI_File_close(file, code)
  call MPI_Allreduce(MPI_IN_PLACE, own, 2, MPI_DOUBLE_PRECISION, MPI_SUM, again, code)
  call MPI_Comm_free(again, code)
  call MPI_Finalize(code)
end program files
