"""Measuring a task's performance model on this machine: Algorithm 1 of the SAM article.

A *trial* sends tuples to a task at a constant rate for a while; the task's threads share one core,
source and sink use the others. The rate is *stable* if latency does not rise with time. The
*sweep* looks for the highest stable rate of each number of threads, until more threads do
not help. Start with `sweep`, which repeats a `trial`; `slot` and `worker` run the task.
Trials are kept in a file as they end, so that none is lost.

It may import `models` and `processes`; the command is ``slotwise profile``.

Source: Shukla and Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*,
section 5.1.
"""
