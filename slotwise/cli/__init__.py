"""The command line: arguments, output and exit codes.

`app` lists the commands; each is a file in `commands` and imports what is heavy only when it runs.
`command` makes a command of a public function, whose parameters are its arguments, declared in
`options`; the function does the work, its result has the JSON document and exit code, `render`
prints it for people. `exits` turns every error into one line on stderr and an exit code, including
Ctrl-C, `progress` shows a running solve.

Start with `app`. It may import everything but `slotwise.testing` and the experiments; nothing but
``slotwise/__main__.py`` imports it. In words: ``docs/commands.md``.
"""
