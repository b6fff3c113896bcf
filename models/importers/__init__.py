"""Instances from other formats, and from a running Storm.

Which instance does a foreign file mean? `storm_cluster` reads the clusters of Apache Storm's own
large tests, decoded to JSON; `matrix_assignment` reads assignment problems given by matrices
(GQAP, CTAP, QAP); `models.instance_file` recognises both by their content. What a cluster is now
comes from several sources: `nimbus` asks a running Storm, `flux` reads topologies in YAML,
`storm_sources` merges them with ``storm.yaml``, pools and racks, and `storm_settings` is what they
share: the settings of Storm that change a placement. Each header says what a format leaves open and
how we read it. Start with `storm_settings`.

They may import `models.formats` and what is below.
"""
