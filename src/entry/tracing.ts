import type * as SdkTrace from '@opentelemetry/sdk-trace';

import { readSecretFile } from './config.ts';
import { type Environment, ConfigError, processEnvironment } from '#kernel/config.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type TracedSpan, type TracingBackend, useTracing } from '#kernel/tracing.ts';

export interface Tracing {
  /** Sends the remaining traces, and records no more. */
  close(): Promise<void>;
}

const NO_TRACING: Tracing = { close: async () => {} };
const CLOSE_MS_MAX = 3_000;

/**
 * Sends traces by OTLP when `OTEL_EXPORTER_OTLP_ENDPOINT` (or `…_TRACES_ENDPOINT`) is set, and obeys OpenTelemetry's
 * own variables. Without them nothing of OpenTelemetry is loaded.
 */
export async function openTracing(
  role: 'api' | 'worker' | 'pager',
  log: Log,
  environment: Environment = processEnvironment(),
): Promise<Tracing> {
  if (!isWanted(environment)) return NO_TRACING;
  requireHttp(environment);
  const headers = readHeaders(environment);
  const [
    { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace },
    { parseTraceParent },
    sdk,
    resources,
    { OTLPTraceExporter },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const { resourceFromAttributes, defaultResource, detectResources, envDetector } = resources;
  const provider = new sdk.TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'tocsin', 'service.instance.id': `${role}-${process.pid}` }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(environment, sdk),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new OTLPTraceExporter(headers === null ? {} : { headers }),
        ...definedNumbers({
          scheduledDelayMillis: environment['OTEL_BSP_SCHEDULE_DELAY'],
          exportTimeoutMillis: environment['OTEL_BSP_EXPORT_TIMEOUT'],
          maxQueueSize: environment['OTEL_BSP_MAX_QUEUE_SIZE'],
          maxExportBatchSize: environment['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'],
        }),
      }),
    ],
  });
  const tracer = provider.getTracer('tocsin');
  const kinds = {
    server: SpanKind.SERVER,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
    client: SpanKind.CLIENT,
    internal: SpanKind.INTERNAL,
  };
  const backend: TracingBackend = {
    start(name, { kind, attributes, parent }): TracedSpan {
      const remote = parent === null ? null : parseTraceParent(parent);
      const context =
        remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: { ...attributes } }, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceId,
        spanId,
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        set: (more) => void span.setAttributes({ ...more }),
        end(error) {
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
          span.end();
        },
      };
    },
  };
  useTracing(backend);
  log.info({}, 'traces are sent by OTLP');
  return {
    async close() {
      useTracing(null);
      await provider.forceFlush({ timeoutMillis: CLOSE_MS_MAX }).catch(() => {});
      await provider.shutdown().catch(() => {});
    },
  };
}

function isWanted(environment: Environment): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  if (environment['OTEL_TRACES_EXPORTER'] === 'none') return false;
  return Boolean(environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
}

const PROTOCOL = 'http/protobuf';

function requireHttp(environment: Environment): void {
  for (const variable of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const value = environment[variable];
    if (value && value !== PROTOCOL) {
      throw new ConfigError([`${variable} must be ${PROTOCOL}, usually on port 4318: traces are sent by it alone`]);
    }
  }
}

/** Reads the collector's credentials from a file, as OpenTelemetry writes the variable: `authorization=Bearer%20…`. */
function readHeaders(environment: Environment): Record<string, string> | null {
  const variables = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'];
  const variable = variables.find((variable) => environment[`${variable}_FILE`]);
  if (variable === undefined) return null;
  const faults: string[] = [];
  const text = readSecretFile(variable, environment[`${variable}_FILE`] ?? '', faults) ?? '';
  const headers = faults.length > 0 ? null : headersIn(text);
  if (headers === null && faults.length === 0) {
    faults.push(`${variable}_FILE must hold headers, such as authorization=Bearer%20token, separated by commas`);
  }
  if (headers === null) throw new ConfigError(faults);
  return headers;
}

function headersIn(text: string): Record<string, string> | null {
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=(.*)$/.exec(pair));
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        if (pair === null) throw new Error('no header');
        const [, name = '', value = ''] = pair;
        return [name, decodeURIComponent(value.trim())];
      }),
    );
  } catch {
    return null;
  }
}

type Sdk = Pick<
  typeof SdkTrace,
  'AlwaysOnSampler' | 'AlwaysOffSampler' | 'TraceIdRatioBasedSampler' | 'ParentBasedSampler'
>;

function samplerOf(environment: Environment, sdk: Sdk): SdkTrace.Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const share = Number(environment['OTEL_TRACES_SAMPLER_ARG'] || 1);
  const roots: Readonly<Record<string, () => SdkTrace.Sampler>> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(share),
  };
  const root = roots[name.replace(/^parentbased_/, '')]?.();
  if (root === undefined || !(share >= 0 && share <= 1)) {
    throw new ConfigError([
      'OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of them behind parentbased_, and OTEL_TRACES_SAMPLER_ARG a number from 0 to 1',
    ]);
  }
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function definedNumbers(values: Readonly<Record<string, string | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, text]) => (/^\d+$/.test(text ?? '') ? [[name, Number(text)]] : [])),
  );
}
