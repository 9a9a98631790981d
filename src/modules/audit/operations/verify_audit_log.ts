import { auditGenesis, auditHash } from '#auth/audit_chain.ts';
import type { Id } from '#kernel/ids.ts';
import type { Stores } from '#modules/stores.ts';

/** Result of the check: a whole chain and its last hash, or the first row that is not as it was written. */
export type VerifiedAuditLog =
  | { readonly kind: 'whole'; readonly rows: number; readonly head: string | null }
  | { readonly kind: 'broken'; readonly number: number; readonly auditId: string | null; readonly why: string };

const PAGE = 2_000;

/**
 * Computes the chain of an organization anew, from its first row on. Rows that are added meanwhile are not looked at.
 *
 * Somebody who can write to the database could compute a whole chain anew, or cut it off, too: `expected` is a last
 * hash that was noted elsewhere, in hexadecimal, and its row must still be in the chain.
 */
export async function verifyAuditLog(
  { auditChain }: Pick<Stores, 'auditChain'>,
  orgId: Id<'org'>,
  expected?: string,
): Promise<VerifiedAuditLog> {
  const head = await auditChain.findHead(orgId);
  const last = head?.number ?? 0;
  let number = 0;
  let hash = auditGenesis(orgId);
  let isExpectedFound = expected === undefined;
  while (number < last) {
    const links = await auditChain.list(orgId, number, last, PAGE);
    for (const { auditId, columns, ...link } of links) {
      number += 1;
      if (link.number !== number) return { kind: 'broken', number, auditId: null, why: 'it is missing' };
      if (columns === null) return { kind: 'broken', number, auditId, why: 'it was deleted' };
      hash = auditHash(hash, columns);
      if (!hash.equals(link.hash)) return { kind: 'broken', number, auditId, why: 'it was changed' };
      isExpectedFound ||= hash.toString('hex') === expected;
    }
    if (links.length === 0) return { kind: 'broken', number: number + 1, auditId: null, why: 'it is missing' };
  }
  if (head !== null && !hash.equals(head.hash)) {
    return { kind: 'broken', number, auditId: null, why: 'it is not the row that was added last' };
  }
  const withoutLinks = await auditChain.findUnlinked(orgId);
  if (withoutLinks !== null) {
    return { kind: 'broken', number: number + 1, auditId: withoutLinks, why: 'it was added beside the chain' };
  }
  if (!isExpectedFound) {
    const why = 'no row has the hash that is expected: the log was cut off, or written anew';
    return { kind: 'broken', number: number + 1, auditId: null, why };
  }
  return { kind: 'whole', rows: number, head: head?.hash.toString('hex') ?? null };
}
