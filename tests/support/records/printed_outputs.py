# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of other benchmarks, in the forms of their versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

OSU_LATENCY_5 = """\
srun: job 4711 has been allocated resources
# OSU MPI Latency Test v5.9
# Size          Latency (us)
0                       0.44
1                       0.45
2                       0.45
4                       0.46
8                       0.47
"""
OSU_LATENCY_7 = """\

# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        P50 Tail Lat(us)        P90 Tail Lat(us)        P99 Tail Lat(us)
1                       0.45                    0.44                    0.47                    0.90
2                       0.46                    0.45                    0.48                    0.95
1048576               170.16                  168.00                  175.00                  190.00
"""
OSU_BW = """\
# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       4.00
4194304             10485.76
"""
OSU_BW_TAILS = """\
# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P99 Tail BW(MB/s)
1                       4.00              Pass              4.10              3.00
"""
OSU_MBW_MR = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.3
# [ pairs: 2 ] [ window size: 32 ]
# Size                  MB/s        Messages/s
1                       8.00        8000000.00
2                      16.00        8000000.00
"""
OSU_ALLREDUCE_FULL = """\
# OSU MPI Allreduce Latency Test v6.2
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       2.00              1.50              2.50        1000
16                      2.10              1.60              2.60        1000

# OSU MPI Allreduce Latency Test v6.2
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       2.20              1.70              2.70        1000
16                      2.30              1.80              2.80        1000
"""
OSU_BARRIER = """\
# OSU MPI Barrier Latency Test v5.9
# Avg Latency(us)
             1.25
"""
OSU_IALLREDUCE = """\
# OSU MPI Non-blocking Allreduce Latency Test v5.9
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                      10.00              5.00              6.00             16.67
"""
OSU_IALLREDUCE_FULL = """\
# OSU MPI Non-blocking Allreduce Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_INT.
# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)\
      MPI_Wait(us)    Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        Overlap(%)\
     Transmit Size
4                      10.00              5.00              0.10              0.20\
              1.00              6.00              5.50              6.50             16.67\
                 4
"""
OSU_VALIDATED = """\
# OSU MPI Bcast Latency Test v7.2
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.00              Pass
2                       1.10              {last}
"""
IMB = """\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
#----------------------------------------------------------------
# Date                  : Thu Nov 19 10:00:00 2026
# Machine               : x86_64

# Calling sequence was:
# IMB-MPI1 PingPong Exchange Allreduce Barrier

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.52         0.00
            1         1000         0.53         1.89
      4194304           10       400.00     10485.76

#-----------------------------------------------------------------------------
# Benchmarking Exchange
# #processes = 4
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            1         1000         1.00         1.20         1.10         3.33

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.32         1.40         1.36
   2147483648            int-overflow.; The production rank*size caused int overflow

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.90         1.10         1.00


# All processes entering MPI_Finalize

"""
IMB_NOT_MEASURED = """\
#    Intel (R) MPI Benchmarks 2018 Update 1, MPI-1 part
#---------------------------------------------------
# Benchmarking Alltoall
# #processes = 4; rank order (rowwise):
#     0    1
#     2    3
#---------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.04         0.05         0.05
            1 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use option
            2 out-of-mem.; needed X=   4.125 GB; use flag "-mem X" or MAX_MEM_USAGE>=X
#---------------------------------------------------
# Benchmarking Allgather
# #processes = 4
#---------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            1 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use option
# All processes entering MPI_Finalize
"""
IMB_MT = """\
#------------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.11, MT part
#------------------------------------------------------------------
#

#-----------------------------------------------------------------------------
# Benchmarking PingPongMT
# #processes = 2 (threads: 1)
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            4         1000       130.94       130.94       130.94         0.03
            8         1000         0.28         0.28         0.28        28.25
"""

IMB_UNIBAND = """\
#    Intel(R) MPI Benchmarks {version}, MPI-1 part
#---------------------------------------------------
# Benchmarking Uniband
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions   Mbytes/sec      Msg/sec
            0         1000         0.00      2000000
         1024         1000      1000.00       976562
# All processes entering MPI_Finalize
"""
HPCG = """\
HPCG-Benchmark
version=3.1
Release date=March 28, 2019
Machine Summary=
Machine Summary::Distributed Processes=8
Machine Summary::Threads per processes=2
Local Domain Dimensions=
Local Domain Dimensions::nx=104
Local Domain Dimensions::ny=104
Local Domain Dimensions::nz=104
Departure from Symmetry |x'Ay-y'Ax|/(2*||x||*||A||*||y||)/epsilon=
Iteration Count Information::Total number of optimized iterations=500
Benchmark Time Summary=
Benchmark Time Summary::Optimization phase=0.1
Benchmark Time Summary::DDOT=1.5
Benchmark Time Summary::WAXPBY=2
Benchmark Time Summary::SpMV=10
Benchmark Time Summary::MG=45
Benchmark Time Summary::Total=60
GB/s Summary::Raw Total B/W=10.8
GFLOP/s Summary::Raw Total=1.5
DDOT Timing Variations::Max DDOT MPI_Allreduce time=0.08
Final Summary=
Final Summary::HPCG result is VALID with a GFLOP/s rating of=1.4
Final Summary::Results are valid but execution time (sec) is=60
"""


def reframe_report(**changes: Any) -> str:
    """A run report of ReFrame 4 with a test that passed, one that failed, and one left out."""
    good: Mapping[str, Any] = {
        "name": "StreamTest %num_threads=4 %build.stem=big",
        "result": "pass",
        "system": "helios",
        "partition": "batch",
        "environ": "gnu",
        "num_tasks": 1,
        "num_cpus_per_task": 4,
        "job_nodelist": ["n1"],
        "job_completion_time_unix": 1795000000.0,
        "time_run": 12.5,
        "perfvalues": {"helios:batch:Triad": [25.5, 25.0, -0.1, None, "GB/s", "pass"]},
    }
    bad = {
        **good,
        "name": "StreamTest %num_threads=8 %build.stem=big",
        "result": "fail",
        "perfvalues": {},
        "fail_reason": "sanity error: pattern not found",
    }
    cases = [{**good, **changes}, bad, {**good, "result": "skip"}]
    session = {"version": "4.10.0", "hostname": "login", "time_end_unix": 1795000001.0}
    return json.dumps({"session_info": session, "runs": [{"testcases": cases}]}, indent=1)
