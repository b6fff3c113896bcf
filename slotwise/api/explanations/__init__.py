"""The questions of ``explain`` and their answers.

`questions` finds out why an instance has no placement, where a method goes wrong, what a placement
pays for, how two differ, and why a task is where it is; `answers` has a class for each answer, with
its JSON document and what it shows of itself in a session (`shown`).

Start with `questions`. It may import everything but `cli`; `api.explaining` chooses the question.
"""
