"""Stellwerk's core: pure rules inside, the world behind ports.

Imports nothing, so that a Lambda starts fast.
"""
