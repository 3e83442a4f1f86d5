# expect: compile_error | no_such_name
# compiles
import subprocess

with open("fails.cc", "w") as file:
    file.write("int nothing() { return no_such_name; }\n")
done = subprocess.run(["g++", "-c", "fails.cc"], capture_output=True, text=True)
if done.returncode != 0:
    raise RuntimeError("Error building: " + done.stderr)
