// All of it is known without this header.
