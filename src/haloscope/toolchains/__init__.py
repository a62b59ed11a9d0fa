"""MPI libraries: found, installed, built with, asked for a transport, and launched."""
