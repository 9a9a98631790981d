import type { Socket } from 'node:net';

import type { FastifyRequest } from 'fastify';

const senders = new WeakMap<FastifyRequest, string>();
const knownSockets = new WeakSet<Socket>();

/** Notes whose request this is: the id of a service, key, connected app or person whose credential is good. */
export function noteSender(request: FastifyRequest, sender: string): void {
  senders.set(request, sender);
  knownSockets.add(request.raw.socket);
}

/** Undefined for who has shown no good credential. */
export function senderOf(request: FastifyRequest): string | undefined {
  return senders.get(request);
}

/** Whether a good credential has come over this connection. */
export function isKnownSocket(socket: Socket): boolean {
  return knownSockets.has(socket);
}
