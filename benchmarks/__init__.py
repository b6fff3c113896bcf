"""Grading of methods: runs, the Spark pipeline, aggregation and the report."""
