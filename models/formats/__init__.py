"""Our own files: instances, placements, pools, read exactly and strictly.

How does text become data without losing a digit, even from untrusted files? Size is bounded
(`file_bytes`), JSON and YAML give decimals (`json_text`, `yaml_text`: nothing in a file can run),
Pydantic makes nouns of them by the annotations of `models.nouns`, and its first finding becomes one
`InputError` (`validation`). Unknown keys are errors. Files are written completely or not at all
(`file_bytes`); the hash of an instance is that of its canonical JSON (`instance_writer`). What
people hand in as a placement may also be an answer that holds one (`given_placement`); `plan_file`
is what ``slotwise rebalance --out`` writes: moves in their order and the placement after them;
`advice_schema` is one line of what ``slotwise follow --advice`` appends.

Start with `validation`. It may import `models.problem`, `models.instance` and what is below.
The JSON Schemas are printed by ``slotwise schema``.
"""
