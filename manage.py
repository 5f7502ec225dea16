#!/usr/bin/env python3
"""The one entrance: installs what it needs, then runs the command. Start with `python3 manage.py up`."""

import sys


def main():  # type: () -> None
    # This file must be readable by any Python 3, so that an old one gets this sentence and no traceback.
    if sys.version_info < (3, 11):
        version = ".".join(str(part) for part in sys.version_info[:2])
        sys.exit(
            "Playbook Studio needs Python 3.11 or newer and this is " + version + ": "
            "install a newer one and run it with that, for example `python3.11 manage.py up`."
        )
    from builder.config.bootstrap import run

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
