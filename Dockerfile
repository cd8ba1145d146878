# policylint in a container: Debian slim, Python, git; no root, and a root file system that may be read-only.
# docker build --build-arg WHEEL=dist/policylint-0.1.0-py3-none-any.whl .
FROM python:3.13.9-slim-trixie AS build
ARG WHEEL
WORKDIR /build
COPY requirements.lock ./
COPY ${WHEEL} ./
RUN python -m venv /opt/policylint \
 && /opt/policylint/bin/python -I -m pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.lock \
 && /opt/policylint/bin/python -I -m pip install --no-cache-dir --no-deps --no-index ./*.whl \
 && /opt/policylint/bin/python -I -m pip uninstall --yes pip

FROM python:3.13.9-slim-trixie
# The version of git is Debian's of the day, with its security fixes.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory '*'
COPY --from=build /opt/policylint /opt/policylint
ENV PATH=/opt/policylint/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
LABEL org.opencontainers.image.title="policylint" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/example/policylint"
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["policylint"]
