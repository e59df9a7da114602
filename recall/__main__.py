"""Entry point: the first argument `hook` leads to the hook, anything else to the command line.

The hook must not pay for importing the command line, so each is imported where it is called.
"""

import sys


def main() -> None:
    """Run the program and end the process with its exit code."""
    from recall.hook import pipe

    if pipe.is_asked(sys.argv):
        pipe.main(globals().get("unanswered"))  # packed, the pipe has run already, in this very namespace
    from recall.cli.main import main as run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
