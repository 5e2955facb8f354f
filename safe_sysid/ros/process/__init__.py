"""How a node becomes a process: settings, start, priority, end."""
