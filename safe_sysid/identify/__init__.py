"""IDENTIFY: what the arm must weigh, online, as a nominal value and a guaranteed interval."""
