"""The command line: what users type, what is printed, and with which exit code.

`app` lists the commands; each is a file in `commands` and imports what is heavy only when it runs.
`command` makes a command of a public function, whose parameters are its arguments, typed as
`options` says; the function does the work, its result knows its document and exit code, `render`
shows it to people. `exits` turns every error into one line on stderr and an exit code, including
Ctrl-C, `progress` shows a running solve.

Start with `app`. It may import everything but `slotwise.testing` and the experiments; nothing but
``slotwise/__main__.py`` imports it. In words: ``docs/commands.md``.
"""
