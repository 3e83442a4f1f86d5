# expect: timeout | importing the file was still running
while True:
    pass
