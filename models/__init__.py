"""The nouns of the problem, the judge, file formats and instance generators."""
