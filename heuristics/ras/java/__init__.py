"""What Java decides in Storm's schedules: orders of hash maps, strings, and sorting.

Storm walks over ``java.util.HashMap`` and breaks ties by what it meets first; some of its
comparators change what they compare, so even the sequence of comparisons counts. Here are tables
(`hash_map`), the orders of those that only grow (`iteration_order`, and `many_keys` for thousands
of keys) or that are copied or filled by ``computeIfAbsent`` (`hash_codes`), and TimSort's merges
(`timsort`, JDK 17).

Start with `iteration_order`. It may import `models.errors` only: nothing of it knows scheduling.
"""
