import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { AUDIT_STREAM_KINDS } from '#modules/audit/decide/audit_stream.ts';
import type { AuditStreamRow } from '#modules/audit/store/audit_stream_store.ts';

export const AuditStreamView = Type.Object({
  auditStreamId: IdText,
  kind: Type.Enum([...AUDIT_STREAM_KINDS]),
  target: Type.String({ description: 'host of the webhook, or name of the file in the folder of the operator' }),
  isOn: Type.Boolean(),
  sentNumber: Type.Integer({ description: 'number of the last row that was taken; 0 before the first' }),
  behind: Type.Integer({ description: 'rows that wait' }),
  lastSuccessAt: nullable(Timestamp),
  failingSince: nullable(Timestamp),
  lastFailure: nullable(Type.String()),
  createdAt: Timestamp,
});

export function toAuditStreamView(stream: AuditStreamRow, headNumber: number): Static<typeof AuditStreamView> {
  const { id: auditStreamId, kind, shown: target, isOn, sentNumber, lastFailure } = stream;
  return {
    auditStreamId,
    kind,
    target,
    isOn,
    sentNumber,
    behind: Math.max(0, headNumber - sentNumber),
    lastSuccessAt: toTimestampOrNull(stream.lastSuccessAt),
    failingSince: toTimestampOrNull(stream.failingSince),
    lastFailure,
    createdAt: toTimestamp(stream.createdAt),
  };
}

/** Returns what the audit log holds of a stream. */
export function auditedStream({ kind, shown, isOn }: Pick<AuditStreamRow, 'kind' | 'shown' | 'isOn'>): object {
  return { kind, target: shown, isOn };
}
