import type { IncomingMessage } from 'node:http';

/** The address of the client of a request that is handed on, as trusted proxies report it. */
export const clientAddresses = new WeakMap<IncomingMessage, string>();
