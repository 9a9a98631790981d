import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';

import { onTestFinished } from 'vitest';

import { type ConnectionLimits, connectionLimitsOf, limitConnections } from '#entry/http/connections/connections.ts';
import { ReachedLimits } from '#kernel/reached_limits.ts';
import { silentLog } from '#kernel/log.ts';
import { testClock } from '#test/kit/clock.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';
import { happenings } from '#test/kit/when.ts';

/** A connection, what was heard over it, and whether it is closed. */
export type Opened = Socket & {
  isGone: boolean;
  heard: string;
  /** Resolves to what was heard, once it matches. */
  hears(pattern: RegExp): Promise<string>;
  /** Resolves once it is closed. */
  readonly gone: Promise<void>;
};

/** Opens a connection that ends with the test. */
export async function opened(port: number, localAddress = '127.0.0.1'): Promise<Opened> {
  const pieces = happenings<string>();
  const { promise: gone, resolve: close } = Promise.withResolvers<void>();
  const socket = Object.assign(connect({ port, host: '127.0.0.1', localAddress }), {
    isGone: false,
    heard: '',
    hears: (pattern: RegExp) => pieces.hold(() => pattern.test(socket.heard)).then(() => socket.heard),
    gone,
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      socket.isGone = true;
      close();
    });
  socket.setEncoding('utf8').on('data', (text: string) => {
    socket.heard += text;
    pieces.happen(text);
  });
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** The port at which the server listens from now on. */
export async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server of these limits, until the test ends. */
export async function guarded(
  answer: RequestListener,
  limits: Partial<ConnectionLimits>,
  processes = () => 1,
): Promise<{ port: number; reachedLimits: ReachedLimits }> {
  const server = createServer(answer);
  const reachedLimits = new ReachedLimits(silentLog, testClock());
  const all = { ...connectionLimitsOf(DEFAULT_LIMITS), ...limits };
  const connections = limitConnections(server, all, { reachedLimits, trustedProxies: undefined, processes });
  onTestFinished(() => {
    connections.close();
    server.closeAllConnections();
    server.close();
  });
  return { port: await portOf(server), reachedLimits };
}
