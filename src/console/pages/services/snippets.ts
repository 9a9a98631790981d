import { addressOf } from '#console/api/http.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';

/** Snippets that make a service start sending, by kind of sender. */
export const SNIPPETS: Readonly<
  Record<string, { readonly label: string; text(keys: { dsn: string; ingestionKey: string }): string }>
> = {
  node: {
    label: 'Node.js',
    text: ({ dsn }) => `import * as Sentry from '@sentry/node';\n\nSentry.init({ dsn: '${dsn}' });`,
  },
  browser: {
    label: 'Browser',
    text: ({ dsn }) => `import * as Sentry from '@sentry/browser';\n\nSentry.init({ dsn: '${dsn}' });`,
  },
  python: {
    label: 'Python',
    text: ({ dsn }) => `import sentry_sdk\n\nsentry_sdk.init(dsn="${dsn}")`,
  },
  otlp: {
    label: 'OpenTelemetry',
    text: ({ ingestionKey }) =>
      [
        `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=${addressOf(INGEST_PATHS.otlp_metrics)}`,
        `OTEL_EXPORTER_OTLP_METRICS_HEADERS="Authorization=Bearer ${ingestionKey}"`,
        // Several SDKs speak gRPC unless they are told.
        'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf',
        'OTEL_METRICS_EXPORTER=otlp',
      ].join('\n'),
  },
  prometheus: {
    label: 'Prometheus',
    text: ({ ingestionKey }) =>
      [
        'remote_write:',
        `  - url: ${addressOf(INGEST_PATHS.prometheus_write)}`,
        '    authorization:',
        `      credentials: ${ingestionKey}`,
        '    queue_config:',
        '      retry_on_http_429: true',
      ].join('\n'),
  },
  curl: {
    label: 'curl',
    text: ({ ingestionKey }) =>
      [
        `curl ${addressOf(INGEST_PATHS.metrics_json)} \\`,
        `  -H 'Authorization: Bearer ${ingestionKey}' -H 'Content-Type: application/json' \\`,
        `  -d '{"points":[{"name":"checkout.latency","value":42}]}'`,
      ].join('\n'),
  },
};
