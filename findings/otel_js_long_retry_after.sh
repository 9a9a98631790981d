#!/usr/bin/env bash
# OpenTelemetry JS: the OTLP exporter over HTTP drops a batch at once when Retry-After exceeds its time-out of 10 s.
#
# One expects it to wait as long as it was told, or as long as it may: with "Retry-After: 1" it comes back, with
# "Retry-After: 11" it makes no second try, within milliseconds, and forceFlush() resolves in both cases. A server that is
# busy for longer keeps more by naming a shorter time.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @opentelemetry/api@1.10.0 @opentelemetry/sdk-metrics@3.1.1 \
  @opentelemetry/exporter-metrics-otlp-http@0.301.0 >/dev/null
cat >try.mjs <<'JS'
import http from 'node:http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

async function requestsAfter(retryAfter) {
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests += 1;
    const isFirst = requests === 1;
    request.resume().on('end', () => {
      if (isFirst) response.writeHead(429, { 'retry-after': retryAfter }).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exporter = new OTLPMetricExporter({ url: `http://127.0.0.1:${server.address().port}/v1/metrics` });
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  new MeterProvider({ readers: [reader] }).getMeter('m').createCounter('orders').add(1);
  const outcome = await reader.forceFlush().then(() => 'resolved', () => 'rejected');
  console.log(`Retry-After: ${retryAfter}: ${requests} request(s), forceFlush ${outcome}`);
  return `${requests} ${outcome}`;
}
const seen = [await requestsAfter('1'), await requestsAfter('11')];
process.exit(seen.join() === '2 resolved,1 resolved' ? 0 : 1);
JS
echo "exporter-metrics-otlp-http $(node -p "require('./package.json').dependencies['@opentelemetry/exporter-metrics-otlp-http']")"
node try.mjs
