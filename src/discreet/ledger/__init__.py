"""What was spent, kept across runs: limits of data sets, and a chained record of every reservation and release.

Nothing here sees rows. What a run costs is reserved before a statistic is evaluated, the release is kept with the
entry that commits it, and only then is it handed out.
"""
