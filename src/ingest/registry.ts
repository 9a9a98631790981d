import type { MetricProtocol, PortProtocol } from '#ingest/protocol.ts';
import { METRICS_JSON } from '#ingest/protocols/metrics_json.ts';
import { OTLP_GRPC } from '#ingest/protocols/otlp_grpc.ts';
import { OTLP_METRICS } from '#ingest/protocols/otlp_metrics.ts';
import { PROMETHEUS_WRITE } from '#ingest/protocols/prometheus_write.ts';
import { STATSD } from '#ingest/protocols/statsd.ts';

/** Protocols for metrics. The Sentry protocol, for exceptions, is mounted by itself. */
export const METRIC_PROTOCOLS: readonly MetricProtocol[] = [METRICS_JSON, OTLP_METRICS, PROMETHEUS_WRITE];

/** Protocols that listen on a port of their own. */
export const PORT_PROTOCOLS: readonly PortProtocol[] = [OTLP_GRPC, STATSD];
