"""OFFLINE: motions worth recording, inside limits and without contact."""
