import type { IncomingMessage } from 'node:http';

/** Client address of a request that is passed on, as trusted proxies report it. */
export const clientAddresses = new WeakMap<IncomingMessage, string>();
