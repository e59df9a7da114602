"""The packed program on a person's machine: where its versions lie, how one comes, changes and goes.

Imports little, for the carrier on Windows is made of it too.
"""
