"""One file per command or per group of related commands.

A command declares its arguments and options (Typer), calls one function of the library, and hands
the answer to `cli.render` or prints it as JSON. No command computes anything itself. Commands
for authors of schedulers and validators are in `kit`, those about gradings in `gradings`, about
metric logs in `logs`, about what runs in `running`.

Start with `solve`; a new command needs a file here and a line in `cli.app`. They may import
`cli.render`, the other modules of `cli` except `app`, and the library.
"""
