"""Helpers that tests of several folders share.

pytest finds this package by its name, and so do the processes that tests start.
"""
