"""The demo over real middleware: what it prints and writes is true, and a broken promise is told."""
