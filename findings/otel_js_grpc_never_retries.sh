#!/usr/bin/env bash
# OpenTelemetry JS: the OTLP exporter over gRPC sends an export once, whatever it is answered.
#
# The OTLP specification lists UNAVAILABLE as retryable, and the same SDK's exporter over HTTP does come back after 503.
# Over gRPC a collector that restarts costs every batch that is sent meanwhile; forceFlush() resolves all the same.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @opentelemetry/api@1.10.0 @opentelemetry/sdk-metrics@3.1.1 \
  @opentelemetry/exporter-metrics-otlp-grpc@0.301.0 @grpc/grpc-js@1.14.7 >/dev/null
cat >try.mjs <<'JS'
import grpc from '@grpc/grpc-js';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const asItIs = (bytes) => bytes;
const method = {
  path: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  requestStream: false,
  responseStream: false,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
};
let calls = 0;
const server = new grpc.Server();
server.addService({ Export: method }, {
  Export(_call, answer) {
    calls += 1;
    answer(calls === 1 ? { code: grpc.status.UNAVAILABLE, details: 'restarting' } : null, Buffer.alloc(0));
  },
});
const port = await new Promise((resolve, reject) =>
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
);
const exporter = new OTLPMetricExporter({ url: `http://127.0.0.1:${port}`, credentials: grpc.credentials.createInsecure() });
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
new MeterProvider({ readers: [reader] }).getMeter('m').createCounter('orders').add(1);
const outcome = await reader.forceFlush().then(() => 'resolved', () => 'rejected');
await new Promise((resolve) => setTimeout(resolve, 8_000));
console.log(`calls of Export within 8 s of UNAVAILABLE: ${calls}; forceFlush ${outcome}`);
process.exit(calls === 1 && outcome === 'resolved' ? 0 : 1);
JS
echo "exporter-metrics-otlp-grpc $(node -p "require('./package.json').dependencies['@opentelemetry/exporter-metrics-otlp-grpc']")"
node try.mjs
