"""Instance files in other formats, recognised by their content.

Which instance does a foreign file mean? `storm_cluster` reads the clusters of Apache Storm's own
large tests, decoded to JSON; `matrix_assignment` reads assignment problems given by matrices
(GQAP, CTAP, QAP). Each header says what the format leaves open and how we read it. Start with
`storm_cluster`.

`models.instance_file` chooses among them. They may import `models.formats` and what is below.
"""
