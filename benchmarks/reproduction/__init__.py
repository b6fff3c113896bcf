"""Published figures compared with ours: which numbers we reproduce, and why not the others.

`figure` is a published number with the section that it is from, what we compute instead, and
whether they are equal to the digits that were published. `sam` computes those of the
SAM article, `r_storm` and `stromax` predict and simulate those of their articles, through
`placements`; the figures, the explanations and what had to be assumed are in ``data/``, one file
per article.

Start with `figure`. It may import `heuristics`, `models` and `solver`. Nothing here is measured:
what an article measured and no text states is listed as not reproducible.
"""
