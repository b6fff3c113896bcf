"""The instance compiled: integer arrays, and interchangeable tasks counted in classes.

Which integers represent the decimals, and which tasks are interchangeable? A dimension or a term is
multiplied by the least power of ten that makes its numbers integers (`scaling`); tasks of one
component form a class; the flow between two classes is a number per pair of tasks (`compile`).
`magnitudes` proves that no sum can leave 64 bits and no term the integers of a double, or refuses
the instance by name. Engines, methods and the judge all compute with a `Problem`.

Start with `problem`; `compile` makes it. It may import `models.instance` and what is below.
"""
