import type { FastifyInstance } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import type { ConnectionOptions } from '#entry/http/connection_table.ts';
import type { IngestContext } from '#entry/http/ingest_context.ts';
import { limitPortConnections, portLimitsOf } from '#entry/http/port_connections.ts';
import { portSenders } from '#entry/http/take_points.ts';
import { toListenFault } from '#entry/listen_fault.ts';
import type { OpenPort } from '#ingest/port_protocol.ts';
import { PORT_PROTOCOLS } from '#ingest/registry.ts';
import { ConfigError } from '#kernel/config.ts';
import { waitForAll } from '#kernel/wait_for_all.ts';

/** Opens the ports of the protocols that are configured, once the app is ready; the caller closes them. */
export function openIngestPorts(
  app: FastifyInstance,
  { config, clock, log }: AppContext,
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
        const open = portSenders(context);
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
