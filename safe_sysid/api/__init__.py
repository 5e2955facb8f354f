"""What `import safe_sysid` offers: one function or class for each main job, with its result."""
