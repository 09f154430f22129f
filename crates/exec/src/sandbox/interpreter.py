"""Prints what a Python interpreter consists of: its program, what it executes, what it reads.

Each is a path with a NUL after it; of what it executes and reads, after `x` or `r`.
"""

import os
import sys


def directory(path):
    return os.path.dirname(os.path.realpath(path))


executed = {os.path.realpath(sys.executable), os.path.realpath("/proc/self/exe")}
# What the system's libraries read.
read = {"/dev/null", "/dev/urandom", "/etc/ld.so.cache", "/etc/localtime"}
read |= {"/etc/ssl/openssl.cnf", "/usr/share/zoneinfo", "/lib", "/lib64", "/usr/lib", "/usr/lib64"}
read |= {path for path in sys.path if os.path.isabs(path)}
# A module may be a link to a file elsewhere, such as Debian's `sitecustomize`.
files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
read |= {directory(file) for file in files if file}
for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
    read |= {os.path.join(prefix, name) for name in ["lib", "lib64", "pyvenv.cfg"]}
with open("/proc/self/maps") as maps:
    for line in maps:
        path = line[line.find("/"):].rstrip("\n") if "/" in line else ""
        if not os.path.isfile(path) or os.path.realpath(path) in executed:
            continue
        read.add(directory(path))
        # The dynamic loader; musl's has the rest of the library in it.
        if os.path.basename(path).startswith("ld"):
            executed.add(os.path.realpath(path))

paths = ["x" + path for path in sorted(executed)] + ["r" + path for path in sorted(read)]
print("\0".join([sys.executable] + paths), end="\0")
