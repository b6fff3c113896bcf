"""slotwise's own files: instances, placements, pools, read exactly and strictly.

Files are untrusted and no digit may be lost: size is bounded (`file_bytes`), JSON and YAML give
decimals (`json_text`, `yaml_text`: nothing in a file can run), Pydantic makes nouns of them by the
annotations of `models.nouns`, and its first finding becomes one `InputError` (`validation`).
Unknown keys are errors. Files are written completely or not at all (`file_bytes`); the hash of an
instance is that of its canonical JSON (`instance_writer`). A placement may also be read from an
answer that holds one (`given_placement`); `plan_file` describes what ``slotwise rebalance --out``
writes: ordered moves and the placement after them; `advice_schema` a line that ``slotwise follow
--advice`` appends.

Start with `validation`. It may import `models.problem`, `models.instance` and what is below.
The JSON Schemas are printed by ``slotwise schema``.
"""
