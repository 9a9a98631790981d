import type { MetricProtocol } from '#ingest/metric_protocol.ts';
import type { PortProtocol } from '#ingest/port_protocol.ts';
import { METRICS_JSON } from '#ingest/protocols/metrics_json.ts';
import { OTLP_GRPC } from '#ingest/protocols/otlp_grpc.ts';
import { OTLP_METRICS } from '#ingest/protocols/otlp_metrics.ts';
import { PROMETHEUS_WRITE } from '#ingest/protocols/prometheus_write.ts';
import { STATSD } from '#ingest/protocols/statsd.ts';

/** Every protocol that brings metrics. The Sentry protocol, which brings exceptions, is mounted by itself. */
export const METRIC_PROTOCOLS: readonly MetricProtocol[] = [METRICS_JSON, OTLP_METRICS, PROMETHEUS_WRITE];

/** Those that have a port of their own. */
export const PORT_PROTOCOLS: readonly PortProtocol[] = [OTLP_GRPC, STATSD];
