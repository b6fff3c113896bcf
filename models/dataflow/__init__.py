"""Dataflows: a DAG of tasks with selectivities, and the rate of each task.

A dataflow knows neither threads nor machines; an allocation (`models.allocation`) decides them.
Start with `dataflow`; `rates` carries the rate of the sources through the DAG.

Source: Shukla and Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*,
sections 3 and 6; its micro DAGs are in section 8.
"""
