"""The experiments behind the figures of `safe-sysid bench`."""
