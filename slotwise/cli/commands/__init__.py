"""One file per command or per group of related commands.

A command declares its arguments and options (Typer), calls one function of the library, and hands
the answer to `cli.render` or prints it as JSON. No command computes anything itself.

Start with `solve`; a new command needs a file here, which `cli.app` finds. They may import
`cli.render`, the other modules of `cli` except `app`, and the library.
"""
