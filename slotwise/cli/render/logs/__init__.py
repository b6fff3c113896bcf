"""What metric logs say, for people.

`measured` shows weights measured by logs, `advice` whether a rebalance of the cluster that writes
them pays.

Start with `measured`. It may import what `cli.render` may.
"""
