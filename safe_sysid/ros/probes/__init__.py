"""Small programs that try the middleware, for `doctor` and `bench`."""
