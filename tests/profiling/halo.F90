! SPDX-License-Identifier: BSD-3-Clause
! A halo of 1,000 reals to the next rank of a ring, ten times; and what Fortran says in its own way.
! Two ranks send 160,000 bytes.
#if defined(WITH_F08)
#define INTERFACE use mpi_f08
#define DECLARATIONS
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#elif defined(WITH_MPI)
#define INTERFACE use mpi
#define DECLARATIONS
#define REQUEST integer
#define WINDOW integer
#else
#define INTERFACE
#define DECLARATIONS include 'mpif.h'
#define REQUEST integer
#define WINDOW integer
#endif
subroutine exchange(own, theirs, next, before)
  INTERFACE
  implicit none
  DECLARATIONS
  real(kind=8) :: own(1000), theirs(1000)
  integer :: next, before, code
  REQUEST :: requests(2)
  call MPI_Irecv(theirs, 500, MPI_DOUBLE_PRECISION, before, 0, MPI_COMM_WORLD, requests(1), code)
  call MPI_Isend(own, 500, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, requests(2), code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call MPI_Sendrecv(own(501), 500, MPI_DOUBLE_PRECISION, next, 0, theirs(501), 500, &
                    MPI_DOUBLE_PRECISION, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
end subroutine exchange

program halo
  INTERFACE
  implicit none
  DECLARATIONS
  REQUEST :: again
  WINDOW :: window
  integer :: rank, ranks, next, before, step, code
  integer(kind=MPI_ADDRESS_KIND) :: bytes, nowhere
  real(kind=8) :: own(1000), theirs(1000), total(2)

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  own = rank
  do step = 1, 10
    call exchange(own, theirs, next, before)
  end do
  if (theirs(1) /= before) call MPI_Abort(MPI_COMM_WORLD, 3, code)

  total = 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Send_init(own, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD, again, code)
  call MPI_Start(again, code)
  call MPI_Wait(again, MPI_STATUS_IGNORE, code)
  call MPI_Request_free(again, code)
  call MPI_Pcontrol(1000)
  bytes = 8000
  nowhere = 0
  call MPI_Win_create(theirs, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, code)
  call MPI_Win_fence(0, window, code)
  call MPI_Put(own, 10, MPI_DOUBLE_PRECISION, next, nowhere, 10, MPI_DOUBLE_PRECISION, window, code)
  call MPI_Win_fence(0, window, code)
  call MPI_Win_free(window, code)
  call MPI_Finalize(code)
end program halo
