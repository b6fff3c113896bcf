"""SAM: threads and slots for a rate from performance models, and its rivals, as published.

Two allocations say how many threads each task gets (`allocations`: LSA, Algorithm 2, and MBA,
Algorithm 3), VMs are acquired (`retry`, section 7.1), and three mappings put the threads on slots
(`pairs`: DSM, Algorithm 4; RSM, Algorithm 5; SAM, Algorithm 6), with a slot more wherever they do
not fit (`retry`, section 8.4). `pairs` also lists the five pairs that the article compares;
`fixed_vms` runs them on given VMs (section 8.5). Each file says how it reads what the article
leaves open.

Start with `pairs`. It may import `models`; plans are not checked here but by
`models.allocation.check`.

Source: Shukla and Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*.
"""
