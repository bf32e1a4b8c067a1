# docker build --tag linpoint . && docker run --rm --volume "$PWD:/data" linpoint check history.jsonl
FROM rust:1-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY . /source
RUN cargo install --locked --profile dist --features parquet,spec --path /source/crates/linpoint-cli

FROM debian:stable-slim
COPY --from=build /usr/local/cargo/bin/linpoint /usr/local/bin/linpoint
WORKDIR /data
ENTRYPOINT ["linpoint"]
