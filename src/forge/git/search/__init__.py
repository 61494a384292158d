"""Search over a tree and pending changes: plain text and expressions, line by line, with globs, context and limits.

One law decides what matches (see `Query`), whether a file is pending, read from git or in the text cache. `warm` fills
that cache, which makes searches quick on every branch; without it they ask `git grep` first.
"""
