import sys

sys.exit("no problem here")
