import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import {
  type ConnectionCounts,
  type ConnectionOptions,
  ConnectionTable,
} from '#entry/http/connections/connection_table.ts';
import type { IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { portSenders } from '#entry/http/ingest/take_points.ts';
import { toListenFault } from '#entry/listen_fault.ts';
import type { NamedSeries, OpenPort, PortConnections } from '#ingest/protocol.ts';
import { PORT_PROTOCOLS } from '#ingest/registry.ts';
import { ConfigError } from '#kernel/config.ts';
import type { Id } from '#kernel/ids.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { Clock } from '#kernel/time.ts';
import { waitForAll } from '#kernel/promises.ts';
import { labelText } from '#modules/metrics/decide/quantile.ts';
import { seriesKey } from '#modules/metrics/decide/series_key.ts';
import type { MetricReader } from '#modules/metrics/store/metric_reader.ts';

/** Opens the ports of the protocols that are configured, once the app is ready; the caller closes them. */
export function openIngestPorts(
  app: FastifyInstance,
  { config, clock, log, actions }: AppContext,
  context: IngestContext,
  options: ConnectionOptions,
): { close(): Promise<void> } {
  const ports: OpenPort[] = [];
  const connections = limitPortConnections(portLimitsOf(config), options);
  app.addHook('onReady', async () => {
    for (const protocol of PORT_PROTOCOLS) {
      const [host, port] = [config.host, protocol.portOf(config)];
      if (port === 0) continue;
      try {
        const open = portSenders(context, newestValuesOf(actions.metrics, clock));
        const now = () => clock.now();
        const limits = { connections, pieceBytesMin: config.bodyPieceBytesMin };
        ports.push(await protocol.listen({ host, port, settings: config, open, ...limits, now, log }));
      } catch (error) {
        const fault = toListenFault(error, host, port);
        throw fault === null ? error : new ConfigError([fault.sentence]);
      }
      log.info({ host, port, protocol: protocol.name }, 'listening for metrics');
    }
  });
  return {
    async close() {
      connections.close();
      await waitForAll(ports.map((port) => port.close()));
    },
  };
}

const SINCE_HOURS = 24;

/** Returns what is stored of each series last; null for one of which nothing came for a day. */
export function newestValuesOf(
  metrics: Pick<MetricReader, 'newestValues'>,
  clock: Clock,
): (serviceId: Id<'service'>, series: readonly NamedSeries[]) => Promise<readonly (number | null)[]> {
  return async (serviceId, series) => {
    const keys = series.map(({ name, tags }) => ({ name, key: seriesKey(name, labelsOf(tags)) }));
    const values = await metrics.newestValues(serviceId, keys, clock.now().subtract({ hours: SINCE_HOURS }));
    return keys.map(({ key }) => values.get(key) ?? null);
  };
}

/** Labels in the form in which they are stored. */
function labelsOf(tags: NamedSeries['tags']): string[] {
  return tags
    .filter(([, value]) => value !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .flatMap(([name, value]) => [name, labelText(name, value)]);
}

interface PortLimits extends ConnectionCounts {
  /** Limits on a connection before it has shown a valid key: its duration and the bytes it may send. */
  readonly unauthenticatedMsMax: number;
  readonly unauthenticatedBytesMax: number;
}

export function portLimitsOf(limits: Limits): PortLimits {
  return {
    connectionsMax: limits.portConnectionsMax,
    connectionsOfAddressMax: limits.portConnectionsOfAddressMax,
    unauthenticatedMsMax: limits.portSecondsWithoutKey * 1_000,
    unauthenticatedBytesMax: limits.portKilobytesWithoutKey * 1_024,
  };
}

const NAMES = { inAll: 'portConnectionsMax', ofAddress: 'portConnectionsOfAddressMax' } as const;

const LOOK_EVERY_MS = 250;

/** Bounds the connections of a port that takes metrics. `close` stops the checks. */
export function limitPortConnections(
  limits: PortLimits,
  options: ConnectionOptions,
): PortConnections & { close(): void } {
  const table = new ConnectionTable(limits, { ...options, names: NAMES });
  const unauthenticated = new Map<Socket, { readonly network: string; readonly since: number }>();
  const look = setInterval(() => {
    const now = performance.now();
    for (const [socket, { network, since }] of unauthenticated) {
      const isLate = now - since > limits.unauthenticatedMsMax;
      if (!isLate && socket.bytesRead <= limits.unauthenticatedBytesMax) continue;
      options.reachedLimits.record(isLate ? 'portSecondsWithoutKey' : 'portKilobytesWithoutKey', network);
      socket.destroy();
    }
  }, LOOK_EVERY_MS);
  look.unref();
  return {
    admit(socket) {
      const network = table.admit(socket);
      if (network === null) return false;
      unauthenticated.set(socket, { network, since: performance.now() });
      socket.once('close', () => unauthenticated.delete(socket));
      return true;
    },
    setKnown(socket) {
      unauthenticated.delete(socket);
      table.setKnown(socket);
      table.setIdle(socket);
    },
    refusePieces(socket) {
      options.reachedLimits.record('bodyPieceBytesMin', networkOf(socket.remoteAddress ?? ''));
      socket.destroy();
    },
    close: () => clearInterval(look),
  };
}
