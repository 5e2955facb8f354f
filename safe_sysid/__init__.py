"""Identify what a robot arm holds, with guaranteed bounds, while it moves safely.

    measure -> identify -> plan -> track -> robot

with reach/ answering "is this safe?" for plan, and model/ and sets/ as the common vocabulary.
"""
