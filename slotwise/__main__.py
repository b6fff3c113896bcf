"""Run the command line as ``python -m slotwise``."""

from slotwise.cli.app import main

if __name__ == "__main__":
    main()
