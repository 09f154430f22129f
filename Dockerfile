# The krm-template image: the one static binary on an empty file system.
#
#   docker build -t krm-template .                       compiles it in the `build` stage
#   docker build -t krm-template --target prebuilt .     takes target/release/krm-template,
#       which must be static (CONTRIBUTING.md says how) and is run once to see that;
#       needs no registry at all
#
# Build arguments
#   RUST_IMAGE   the image that compiles: any with cargo, Alpine's or Debian's
#   BINARY       the binary that `prebuilt` takes: a path in the build context
#   VERSION, REVISION, SOURCE   for the labels
#
# The stages stand in this order because Docker's classic builder builds every
# stage up to its target, needed or not: `--target prebuilt` ends before `build`.

ARG RUST_IMAGE=rust:1.95-alpine

# What the image is, whichever way its binary is made.
FROM scratch AS base
ARG VERSION=dev
ARG REVISION=unknown
ARG SOURCE=
LABEL org.opencontainers.image.title="krm-template" \
      org.opencontainers.image.description="Expands Kubernetes Templates: a KRM function and a command line program" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
# kpt and kustomize start a function with `--user nobody`: the name must be known.
COPY docker/passwd docker/group /etc/
USER nobody
ENTRYPOINT ["/krm-template"]

FROM base AS prebuilt
ARG BINARY=target/release/krm-template
COPY ${BINARY} /krm-template
# Only a static binary runs here. The text after the option explains the failure.
RUN ["/krm-template", "--version", "(fails if BINARY is not static: CONTRIBUTING.md says how to build it)"]

FROM ${RUST_IMAGE} AS build
# The commit that `krm-template --version` names; the image has no repository.
ARG REVISION=
WORKDIR /src
COPY . .
# With the target named, the flags are for the program and not for build scripts.
RUN set -eu; \
    host="$(rustc -vV | sed -n 's/^host: //p')"; \
    export KRM_TEMPLATE_COMMIT="$REVISION"; \
    RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked --target "$host"; \
    cp "target/$host/release/krm-template" /krm-template

FROM base AS runtime
COPY --from=build /krm-template /krm-template
