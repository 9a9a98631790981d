import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';

import { networkOf } from '#auth/network.ts';
import { answerSlowRequest } from '#entry/http/client_error.ts';
import { isKnownSocket } from '#entry/http/sender.ts';
import type { LimitLog } from '#kernel/limit_log.ts';

/** What strangers may hold of this process's connections, and for how long. */
export interface ConnectionLimits {
  /** All connections together. A new one beyond it takes the place of the oldest that has shown no key. */
  readonly connectionsMax: number;
  /** Connections of one address (one IPv6 /64) that have shown no key, to all processes together: each has its part. */
  readonly connectionsOfAddressMax: number;
  /** A body that is not there after so long must go on arriving at `bodyBytesPerSecondMin`. */
  readonly bodyGraceMs: number;
  readonly bodyBytesPerSecondMin: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  connectionsMax: 5_000,
  connectionsOfAddressMax: 500,
  bodyGraceMs: 20_000,
  bodyBytesPerSecondMin: 1_024,
};

/** Time limits of Node's own: a head that takes longer, and a request that is not whole by then, are answered 408. */
export const HTTP_TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 2_000,
} as const;

const LOOK_EVERY_MS = 1_000;

interface Connection {
  readonly network: string;
  current: CurrentRequest | null;
}

/** A request that is not answered yet. */
interface CurrentRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly since: number;
  /** What had come over the connection when the request began. */
  readonly bytesBefore: number;
}

interface ConnectionOptions {
  readonly limitLog: LimitLog;
  readonly trustedProxies: string | undefined;
  /** How many processes are alive. */
  readonly processes: () => number;
}

/** The connections of a server, bounded. */
export interface LimitedConnections {
  /**
   * Closes every connection that waits for a request, and each other one as soon as its request is answered. Node closes
   * neither a connection over which no request has come yet nor, before `keepAliveTimeout`, one whose request was under
   * way when the server began to close: without this the server would wait for them.
   */
  drain(): void;
  /** Stops the checks. */
  close(): void;
}

/**
 * Bounds the connections of a server: how many there are, how many one address without a key may have, and how long a
 * body may take. Connections of `trustedProxies` are counted in all, but not by address.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  { limitLog, trustedProxies, processes }: ConnectionOptions,
): LimitedConnections {
  let isDraining = false;
  const connections = new Map<Socket, Connection>();
  /** Those that have shown no key, the one that was idle longest first. */
  const unknown = new Map<Socket, Connection>();
  const ofNetwork = new Map<string, number>();
  const proxies = blockListOf(trustedProxies);

  const countUnknown = (network: string, change: 1 | -1): void => {
    const count = (ofNetwork.get(network) ?? 0) + change;
    if (count > 0) ofNetwork.set(network, count);
    else ofNetwork.delete(network);
  };
  const forgetUnknown = (socket: Socket, connection: Connection): void => {
    if (unknown.delete(socket)) countUnknown(connection.network, -1);
  };

  server.on('connection', (socket: Socket) => {
    if (isDraining) {
      socket.destroy();
      return;
    }
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    const isProxy = isIP(address) > 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
    const ofAddressMax = Math.ceil(limits.connectionsOfAddressMax / processes());
    if (!isProxy && (ofNetwork.get(network) ?? 0) >= ofAddressMax) {
      limitLog.met('connections_of_address', network);
      socket.destroy();
      return;
    }
    if (connections.size >= limits.connectionsMax) {
      limitLog.met('connections', network);
      const [oldest] = unknown.keys();
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      oldest.destroy();
    }
    const connection: Connection = { network: isProxy ? '' : network, current: null };
    connections.set(socket, connection);
    unknown.set(socket, connection);
    countUnknown(connection.network, 1);
    socket.once('close', () => {
      connections.delete(socket);
      forgetUnknown(socket, connection);
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.current = { request, response, since: performance.now(), bytesBefore: socket.bytesRead };
    if (isDraining) response.shouldKeepAlive = false;
    response.once('close', () => {
      connection.current = null;
      if (isDraining) socket.destroySoon();
      if (isKnownSocket(socket)) forgetUnknown(socket, connection);
      else if (unknown.delete(socket)) unknown.set(socket, connection);
    });
  });

  const look = setInterval(() => {
    for (const [socket, { current, network }] of connections) {
      if (current === null || current.request.complete) continue;
      const elapsedMs = performance.now() - current.since;
      const bytes = socket.bytesRead - current.bytesBefore;
      if (elapsedMs < limits.bodyGraceMs || bytes >= (elapsedMs / 1_000) * limits.bodyBytesPerSecondMin) continue;
      limitLog.met('slow_request', network);
      answerSlowRequest(socket);
    }
  }, LOOK_EVERY_MS);
  look.unref();
  return {
    drain() {
      isDraining = true;
      for (const [socket, { current }] of connections) {
        if (current === null) socket.destroy();
        else current.response.shouldKeepAlive = false;
      }
    },
    close: () => clearInterval(look),
  };
}

/** `a,b/24`, as the setting has it. */
function blockListOf(list: string | undefined): BlockList {
  const blocks = new BlockList();
  for (const entry of (list ?? '').split(',').map((part) => part.trim())) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) continue;
    if (prefix === undefined) blocks.addAddress(address, family);
    else blocks.addSubnet(address, Number(prefix), family);
  }
  return blocks;
}
