import type { Socket } from 'node:net';

import type { FastifyRequest } from 'fastify';

const senders = new WeakMap<FastifyRequest, string>();
/** Callbacks to run once a connection has carried a valid credential. */
const whenKnown = new WeakMap<Socket, () => void>();

export interface Credential {
  readonly authorization: string | undefined;
  readonly address: string;
}

export function credentialOf({ headers, ip }: FastifyRequest): Credential {
  return { authorization: headers.authorization, address: ip };
}

/** Sets the authenticated sender of a request: the id of a service, key, connected app or person. */
export function setSender(request: FastifyRequest, sender: string): void {
  senders.set(request, sender);
  const { socket } = request.raw;
  whenKnown.get(socket)?.();
  whenKnown.delete(socket);
}

/** Returns the sender; undefined if the request carried no valid credential. */
export function senderOf(request: FastifyRequest): string | undefined {
  return senders.get(request);
}

/** Calls back once when this connection has carried a valid credential: on verification, not at the answer's end. */
export function onceKnown(socket: Socket, tell: () => void): void {
  whenKnown.set(socket, tell);
}
