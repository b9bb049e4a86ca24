# The daemon as an image: no compiler, no development packages, no root.

# A release names it by its digest, so that both stages are made from the same bytes and everyone can look up from which.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs a script of its own at run time: better-sqlite3 brings its binaries along.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# googleapis holds some 300 APIs of which one is imported, and better-sqlite3 binaries for every platform and
# its sources. Without them the packages take a tenth of the space.
RUN find node_modules/googleapis/build/src/apis -mindepth 1 -maxdepth 1 ! -name sheets -exec rm -r {} + \
  && arch=$(node -p process.arch) \
  && find node_modules/better-sqlite3/prebuilds -type f ! -name "linux-${arch}.node" -delete \
  && rm -r node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' \) -delete

FROM ${BASE}
WORKDIR /app
ENV NODE_ENV=production STATE_DIR=/app/state HTTP_HOST=0.0.0.0 HTTP_PORT=8080
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY src ./src
RUN mkdir state && chown node:node state && node src/main.ts --help > /dev/null
USER node
VOLUME /app/state
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# What a cycle makes is garbage at its end: V8 would let the young generation grow to a hundred megabytes, and the old one to twice of what is
# alive. The C library would keep the megabytes of each answer for itself once they are free, unless it is given a fixed limit.
ENV MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=20", "src/main.ts"]
CMD ["start"]
