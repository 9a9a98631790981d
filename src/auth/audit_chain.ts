import { createHash } from 'node:crypto';

/** What the first row of an organization is linked to. */
export function auditGenesis(orgId: string): Buffer {
  return createHash('sha256').update(orgId).digest();
}

/**
 * The hash of a row and of all before it: SHA-256 of the hash before and of each column as text with its length in front,
 * so that nothing can move from one column into the next. The trigger on the table computes the same.
 */
export function auditHash(before: Uint8Array, columns: readonly (string | null)[]): Buffer {
  const fields = columns.map((text) => (text === null ? '-' : `${Buffer.byteLength(text)}:${text}`));
  return createHash('sha256').update(before).update(fields.join('')).digest();
}
