import type { Socket } from 'node:net';

import { networkOf } from '#kernel/ip_address.ts';
import {
  type ConnectionCounts,
  type ConnectionOptions,
  ConnectionTable,
} from '#entry/http/connections/connection_table.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { PortConnections } from '#ingest/port_protocol.ts';

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
