import type { Socket } from 'node:net';

import type { FastifyRequest } from 'fastify';

const senders = new WeakMap<FastifyRequest, string>();
const knownSockets = new WeakSet<Socket>();

/** Sets the authenticated sender of a request: the id of a service, key, connected app or person. */
export function setSender(request: FastifyRequest, sender: string): void {
  senders.set(request, sender);
  knownSockets.add(request.raw.socket);
}

/** Undefined when the request carried no valid credential. */
export function senderOf(request: FastifyRequest): string | undefined {
  return senders.get(request);
}

/** Whether this connection has carried a valid credential. */
export function isKnownSocket(socket: Socket): boolean {
  return knownSockets.has(socket);
}
