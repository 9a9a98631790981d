import { expect } from 'vitest';

import { loadConfig } from '#entry/config.ts';
import { findPreflightFaults } from '#entry/preflight.ts';
import type { Certificates } from '#test/kit/programs/certificates.ts';

export const APP_SECRET = 'a secret that is long enough for tests';

type Environment = Record<string, string>;

export async function faultsOf(environment: Environment): Promise<string[]> {
  const faults = await findPreflightFaults(loadConfig({ APP_SECRET, ...environment }), { listens: false });
  return faults.map(({ sentence, mayPass }) => `${mayPass ? 'may pass' : 'wrong'}: ${sentence}`);
}

/** Expects no fault with the right authority, and a sentence that says which file to name with another or none. */
export async function expectTrustOnlyIn(
  { caFile, otherCaFile }: Certificates,
  { store, prefix, url }: { readonly store: string; readonly prefix: string; readonly url: string },
): Promise<void> {
  const address = { [`${prefix}_URL`]: url };
  const file = `${prefix}_CA_FILE`;
  expect(await faultsOf({ ...address, [file]: caFile })).toEqual([]);
  for (const wrong of [{ [file]: otherCaFile }, ...(prefix === 'DATABASE' ? [] : [{}])]) {
    const sentence = `wrong: ${prefix}_URL: the certificate of ${store} \\(127.0.0.1:\\d+\\) is not signed by an authority that is trusted here: name the file of that authority in ${file}`;
    expect(await faultsOf({ ...address, ...wrong })).toEqual([expect.stringMatching(new RegExp(`^${sentence}$`))]);
  }
}
