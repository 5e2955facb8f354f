"""Everything the arm may do under a plan: states, torques and space, for every theta and k."""
