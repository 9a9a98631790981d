#!/usr/bin/env bash
# OpenTelemetry JS: with delta temporality, the first value of an observable counter is its total since ever.
#
# A delta is what was added since the last export. An observable counter reports an absolute total (of the processor's
# time, of bytes of a disk), and the first delta of a fresh process is all of it: a dashboard that adds deltas up shows a
# million at each restart. A gauge that was recorded once is exported once, and then no more.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @opentelemetry/api@1.10.0 @opentelemetry/sdk-metrics@3.1.1 >/dev/null
cat >try.mjs <<'JS'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
const meter = new MeterProvider({ readers: [reader] }).getMeter('m');
meter.createObservableCounter('bytes_read').addCallback((result) => result.observe(1_000_000));
meter.createGauge('workers').record(5);
for (let exports = 0; exports < 3; exports += 1) await reader.forceFlush();
const seen = exporter.getMetrics().map(({ scopeMetrics }) =>
  scopeMetrics.flatMap(({ metrics }) =>
    metrics.map(({ descriptor, dataPoints }) => `${descriptor.name} ${dataPoints.map(({ value }) => value)}`),
  ),
);
seen.forEach((metrics, index) => console.log(`export ${index + 1}: ${metrics.join(', ')}`));
const expected = [['bytes_read 1000000', 'workers 5'], ['bytes_read 0'], ['bytes_read 0']];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
JS
echo "sdk-metrics $(node -p "require('./package.json').dependencies['@opentelemetry/sdk-metrics']")"
node try.mjs
