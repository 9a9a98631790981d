import { createServer } from 'node:net';

/** Fault of a setting that does not fit its environment, as a sentence that says what to change. */
export interface PreflightFault {
  readonly sentence: string;
  /** Whether the fault may pass: a store that does not answer may only be starting. */
  readonly mayPass: boolean;
  readonly store?: StoreName;
}

export type StoreName = 'PostgreSQL' | 'ClickHouse' | 'Redis';

/** Returns why a process cannot listen there; null if the port is free and the address is one of this machine. */
export async function findListenFault(host: string, port: number, variable = 'PORT'): Promise<PreflightFault | null> {
  const server = createServer();
  const error = await new Promise<unknown>((resolve) => {
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => resolve(null));
  });
  await new Promise((resolve) => server.close(resolve));
  return error === null ? null : toListenFault(error, host, port, variable);
}

/** Converts an error of listening to a fault; null for any other error. */
export function toListenFault(error: unknown, host: string, port: number, variable = 'PORT'): PreflightFault | null {
  const sentence = LISTEN_FAULTS[codeOf(error)]?.(host, port, variable);
  return sentence === undefined ? null : { sentence, mayPass: false };
}

const unknownAddress = (host: string): string =>
  `HOST ${host} is not an address of this machine: set HOST to one, 127.0.0.1 for this machine alone or 0.0.0.0 for every network`;

const LISTEN_FAULTS: Readonly<Record<string, (host: string, port: number, variable: string) => string>> = {
  EADDRINUSE: (host, port, variable) =>
    `port ${port} of ${host} is taken by another program: end it, or set ${variable} to another port`,
  EACCES: (_host, port, variable) =>
    `port ${port} may not be used by this user: set ${variable} to one above 1023, or allow it`,
  EADDRNOTAVAIL: unknownAddress,
  ENOTFOUND: unknownAddress,
  EAI_AGAIN: unknownAddress,
  EINVAL: unknownAddress,
};

/** Returns the code of an error, also that of the first of several addresses that were tried; empty if it has none. */
export function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : '';
}
