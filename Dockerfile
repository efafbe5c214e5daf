# syntax=docker/dockerfile:1
FROM node:24.11.1-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/embedded-event-store/package.json packages/embedded-event-store/
COPY packages/event-transfer/package.json packages/event-transfer/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24.11.1-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json ./
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/embedded-event-store/package.json packages/embedded-event-store/
COPY packages/event-transfer/package.json packages/event-transfer/
# The images speak to their own back ends: the embedded Postgres binaries are optional and stay out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24.11.1-bookworm-slim
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
# node itself, so that SIGTERM reaches the drain.
ENTRYPOINT ["node", "bin/ringledger.js"]
CMD ["--help"]
