import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';

import { onTestFinished } from 'vitest';

import { type ConnectionLimits, connectionLimitsOf, limitConnections } from '#entry/http/connections/connections.ts';
import { ReachedLimits } from '#kernel/reached_limits.ts';
import { silentLog } from '#kernel/log.ts';
import { testClock } from '#test/kit/clock.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';

/** A connection, what was heard over it, and whether it is closed. It ends with the test. */
export async function opened(
  port: number,
  localAddress = '127.0.0.1',
): Promise<Socket & { isGone: boolean; heard: string }> {
  const socket = Object.assign(connect({ port, host: '127.0.0.1', localAddress }), { isGone: false, heard: '' });
  socket.on('error', () => {}).on('close', () => (socket.isGone = true));
  socket.setEncoding('utf8').on('data', (text: string) => (socket.heard += text));
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
