"""Entry point: the first argument `hook` leads to the hook, anything else to the command line.

The hook must not pay for importing the command line, so each is imported where it is called.
"""

import sys


def main() -> None:
    """Run the program and end the process with its exit code.

    Without arguments and with something piped in we are the hook too: clients before 2.1.139 ignore `args`.
    """
    asked_for_help = "--help" in sys.argv or "-h" in sys.argv
    if (sys.argv[1:2] == ["hook"] and not asked_for_help) or (len(sys.argv) == 1 and not sys.stdin.isatty()):
        from recall.hook import pipe

        pipe.main()
    from recall.cli.main import main as run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
