"""REPORT: what a person reads: text, pages and figures of a result."""
