import { fromEpochMilliseconds, isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';

export const AUDIT_STREAM_KINDS = ['webhook', 'file'] as const;

export type AuditStreamKind = (typeof AUDIT_STREAM_KINDS)[number];

export const AUDIT_STREAMS_MAX = 5;

/** Limits on the rows that are sent together. */
export const ROWS_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 256 * 1_024;

/** Hours of failures after which owners are told. */
const TELL_HOURS = 24;

const PAUSES_SECONDS = [1, 5, 15, 60, 120, 300];

/** A row of the chain. Its texts are those that are hashed, in their order; null when the row is gone. */
export interface ChainRow {
  readonly number: number;
  readonly auditId: string;
  readonly hash: Buffer;
  readonly columns: readonly (string | null)[] | null;
}

/** Names of the texts that are hashed, in their order. */
const HASHED = [
  'auditId',
  'organizationId',
  'at',
  'actor',
  'via',
  'action',
  'target',
  'before',
  'after',
  'result',
  'address',
  'requestId',
] as const;

/** Returns the rows that are sent together: at most a hundred, and no more text than a receiver takes well. */
export function rowsAtOnce(rows: readonly ChainRow[]): readonly ChainRow[] {
  let characters = 0;
  const tooMuch = rows.findIndex(({ columns }, index) => {
    characters += (columns ?? []).reduce((sum, text) => sum + (text?.length ?? 0), 0);
    return index > 0 && characters > CHARACTERS_AT_ONCE;
  });
  return tooMuch < 0 ? rows : rows.slice(0, tooMuch);
}

/**
 * Returns a row as it is sent. `hashed` has the texts of which the hash is made, so that a receiver computes the chain
 * without knowing how the texts are written; the other fields are the same for people and programs that search.
 */
export function toStreamedRow({ number, auditId, hash, columns }: ChainRow): object {
  const field = (name: (typeof HASHED)[number]) => columns?.[HASHED.indexOf(name)] ?? null;
  const parsed = (name: 'actor' | 'before' | 'after'): unknown => JSON.parse(field(name) ?? 'null');
  return {
    number,
    hash: hash.toString('hex'),
    auditId,
    at: columns === null ? null : toTimestamp(fromEpochMilliseconds(Number(field('at')))),
    actor: parsed('actor'),
    via: field('via'),
    action: field('action'),
    target: field('target'),
    before: parsed('before'),
    after: parsed('after'),
    result: field('result'),
    address: field('address'),
    requestId: field('requestId'),
    hashed: columns,
  };
}

export interface StreamHealth {
  readonly failures: number;
  readonly failingSince: Temporal.Instant | null;
  readonly lastFailure: string | null;
  readonly toldAt: Temporal.Instant | null;
  readonly heldUntil: Temporal.Instant | null;
}

/** Returns the health after a failure, and whether owners are told now: once, after a day. */
export function afterFailure(
  { failures, failingSince, toldAt }: StreamHealth,
  { reason, afterMs = 0 }: { readonly reason: string; readonly afterMs?: number | undefined },
  now: Temporal.Instant,
): { readonly health: StreamHealth; readonly tells: boolean } {
  const since = failingSince ?? now;
  const pauseMs = (PAUSES_SECONDS[Math.min(failures, PAUSES_SECONDS.length - 1)] ?? 0) * 1_000;
  const waitMs = Math.max(pauseMs, Math.min(afterMs, TELL_HOURS * 3_600_000));
  const tells = toldAt === null && isAtOrBefore(since.add({ hours: TELL_HOURS }), now);
  return {
    health: {
      failures: failures + 1,
      failingSince: since,
      lastFailure: reason,
      toldAt: tells ? now : toldAt,
      heldUntil: now.add({ milliseconds: waitMs }),
    },
    tells,
  };
}
