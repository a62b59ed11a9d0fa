"""haloscope: a laboratory for the communication performance of parallel (MPI) programs."""

from importlib.metadata import version

__version__ = version("haloscope")
