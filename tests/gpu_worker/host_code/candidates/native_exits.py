# expect: launch_error | importing the file: the process ended without an answer, exit status 0
# compiles
# Native code that ends the process when it is loaded.
import ctypes
import subprocess

with open("ends.cc", "w") as file:
    file.write("#include <cstdlib>\nstatic const struct Ends { Ends() { _Exit(0); } } ends;\n")
subprocess.run(["g++", "-shared", "-fPIC", "-o", "ends.so", "ends.cc"], check=True)
ctypes.CDLL("./ends.so")
