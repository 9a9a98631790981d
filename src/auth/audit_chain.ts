import { createHash } from 'node:crypto';

/** The "previous hash" of the first row of an organization. */
export function auditGenesis(orgId: string): Buffer {
  return createHash('sha256').update(orgId).digest();
}

/**
 * The hash of a row in the chain: SHA-256 of the previous row's hash and of each column as text. The length stands before each
 * text, so that moving characters from one column to the next changes the hash. The trigger on the table computes the same.
 */
export function auditHash(before: Uint8Array, columns: readonly (string | null)[]): Buffer {
  const fields = columns.map((text) => (text === null ? '-' : `${Buffer.byteLength(text)}:${text}`));
  return createHash('sha256').update(before).update(fields.join('')).digest();
}
