# The environment of the tests: Debian, Python, ROS 2 from wheels, all as `make` sets it up.
#
#   docker build -t safe_sysid .
#   docker run --rm --init safe_sysid make demo
FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install --no-install-recommends -y g++ git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /safe_sysid
COPY . .
RUN make kernels
RUN make interfaces
CMD ["make", "help"]
