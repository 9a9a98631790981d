import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';

/** Returns whether a message may still leave. */
type MayLeave = () => boolean;

const checks = new AsyncLocalStorage<MayLeave>();

/**
 * Sends something through clients that ask `mayLeave` right before it leaves, and throw HeldBackError if it may not. A
 * process may be frozen while it connects, and go on long after another process has taken the message over. Libraries
 * pass no argument on to their connections, so that the check goes by the context.
 */
export async function whileMayLeave<Result>(mayLeave: MayLeave, send: () => Promise<Result>): Promise<Result> {
  return await checks.run(mayLeave, send);
}

/** Thrown for a message that was held back, as it may not leave any more: nothing of it was sent. */
export class HeldBackError extends Error {
  constructor() {
    super('the message was held back before it left');
    this.name = 'HeldBackError';
  }
}

/** Whether an error of a client says that the message was held back; some wrap what they caught. */
export function isHeldBack(error: unknown): boolean {
  return error instanceof HeldBackError || (error instanceof Error && error.cause instanceof HeldBackError);
}

/** Returns the check of what is being sent; it allows everything outside `whileMayLeave`. */
export function currentCheck(): MayLeave {
  return checks.getStore() ?? (() => true);
}

/** A request of Node's HTTP client. */
interface OutgoingRequest {
  once(event: 'socket', listener: (socket: Socket) => void): unknown;
  destroy(error: Error): unknown;
}

const kept = new WeakSet<object>();

/** Whether anything of the request that an error names may have left; true if it names none that was held. */
export function mayHaveLeft(error: unknown): boolean {
  const request = error instanceof Error && 'request' in error ? error.request : null;
  return typeof request !== 'object' || request === null || !kept.has(request);
}

/** Keeps what is written to a request until its connection is established, and asks then whether it may leave. */
export function holdUntilConnected<Request extends OutgoingRequest>(request: Request): Request {
  const mayLeave = currentCheck();
  const leave = (): void => {
    if (mayLeave()) kept.delete(request);
    else request.destroy(new HeldBackError());
  };
  kept.add(request);
  request.once('socket', (socket) => {
    const isEncrypting = 'secureConnecting' in socket && socket.secureConnecting === true;
    if (!isEncrypting && !socket.connecting) {
      leave();
      return;
    }
    socket.cork();
    socket.once(isEncrypting ? 'secureConnect' : 'connect', () => {
      leave();
      socket.uncork();
    });
  });
  return request;
}
