import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';

import { AppError } from '#kernel/errors.ts';

const TOKEN_BYTES = 20;

/** Returns what a record in the DNS has to hold to prove a domain. */
export const newProofToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** Answers by which the DNS says that a name has no such records. */
const NO_RECORDS: ReadonlySet<unknown> = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * Returns the function that reads the TXT records of a name from these resolvers, or from those of the machine. Throws
 * `unavailable` if none answers within some seconds.
 */
export function createTextRecordFinder(servers: string | undefined): (hostname: string) => Promise<readonly string[]> {
  return async (hostname) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers.split(',').map((server) => server.trim()));
    try {
      return (await resolver.resolveTxt(hostname)).map((parts) => parts.join(''));
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && NO_RECORDS.has(cause.code)) return [];
      throw new AppError('unavailable', 'the DNS does not answer; try again in a minute', { cause });
    }
  };
}
