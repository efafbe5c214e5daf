# syntax=docker/dockerfile:1
FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:20-bookworm-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json ./
# The images speak to their own back ends: the embedded Postgres binaries are optional and stay out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
# Without tsconfig.build.json the command line takes dist/ as it is.
COPY --from=dependencies /build/node_modules node_modules
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
