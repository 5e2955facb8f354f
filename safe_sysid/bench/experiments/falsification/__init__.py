"""Campaigns against the promises of the package, with dynamics and oracles of their own."""
