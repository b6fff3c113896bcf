"""Published figures compared with ours: which numbers we reproduce, and why not the others.

`figure` is a published number with the section that it is from, what we compute instead, and
whether they are equal to the digits that were published. `sam` computes those of the SAM article;
the figures and the explanations are in ``data/``, one file per article.

Start with `figure`. It may import `heuristics` and `models`. Nothing here is measured: what an
article measured on its machines is listed as not reproducible.
"""
