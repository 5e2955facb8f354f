"""Which inertial parameters can be identified at all, exactly, before anything is fitted."""
