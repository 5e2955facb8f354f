"""Identified arms, payloads and motions as files for robots and simulators."""
