"""Identify what a robot arm holds, with guaranteed bounds, while it moves safely.

    measure -> identify -> plan -> track -> robot

with reach/ answering "is this safe?" for plan, and model/ and sets/ as the common vocabulary.
"""

import os

# Threads of compiled loops sleep between loops. They would otherwise spin, which doubles the
# processor time of a certificate and takes it from the controller. Read when the first loop runs.
os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')
