"""`python -m dalenius`: the same as the command `dalenius`."""

from dalenius.cli import main

if __name__ == "__main__":
    main()
