import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { newSigningSecret } from '#auth/secret_text.ts';
import { externalAddressFault } from '#auth/external_fetch.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { AUDIT_STREAM_KINDS, AUDIT_STREAMS_MAX } from '#modules/audit/decide/audit_stream.ts';
import type { AuditStreamRow } from '#modules/audit/store/audit_stream_store.ts';
import { sealTarget } from '#modules/audit/stream_audit.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';

const AuditStreamView = Type.Object({
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

function toAuditStreamView(stream: AuditStreamRow, headNumber: number): Static<typeof AuditStreamView> {
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

function auditedStream({ kind, shown, isOn }: Pick<AuditStreamRow, 'kind' | 'shown' | 'isOn'>): object {
  return { kind, target: shown, isOn };
}

const Input = StrictObject({
  kind: Type.Enum([...AUDIT_STREAM_KINDS]),
  address: Type.Optional(Type.String({ maxLength: 2_000, description: 'address of the webhook' })),
  fromBeginning: Type.Boolean({ description: 'whether rows of the past are sent, too' }),
});

export const createAuditStream = defineOperation({
  name: 'create_audit_stream',
  stepUp: true,
  summary:
    'Stream the audit log, in order and with its chain, to a webhook or a file of the operator. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: Input,
  result: Type.Object({
    stream: AuditStreamView,
    signingSecret: nullable(
      Type.String({ description: 'signing secret of a webhook, shown this once; null for a file' }),
    ),
  }),
  conflict: 'the organization has as many streams as it may have, or a file already',
  example: { kind: 'webhook', address: 'https://siem.example.com/audit', fromBeginning: true },
  async prepare(input, { installation }) {
    await checkTarget(input, installation);
    return null;
  },
  async handle({ kind, address, fromBeginning }, context) {
    const { caller, stores, now, record, installation } = context;
    const { orgId } = caller;
    await requireOwner(context);
    const others = await stores.auditStreams.list(orgId);
    if (others.length >= AUDIT_STREAMS_MAX) {
      throw new AppError('conflict', `an organization has at most ${AUDIT_STREAMS_MAX} streams; delete one first`);
    }
    if (kind === 'file' && others.some((other) => other.kind === 'file')) {
      throw new AppError('conflict', 'the audit log is streamed to a file already');
    }
    const head = await stores.auditChain.findHead(orgId);
    const isAhead = !fromBeginning && head !== null;
    const signingSecret = address === undefined ? null : newSigningSecret();
    const stream = await stores.auditStreams.insert(
      {
        orgId,
        kind,
        shown: address === undefined ? `${orgId}.jsonl` : new URL(address).host,
        sealed:
          address === undefined || signingSecret === null
            ? null
            : sealTarget(installation.ciphers.auditStreams, { address, signingSecret }),
        sentNumber: isAhead ? head.number : 0,
        sentHash: isAhead ? head.hash : null,
      },
      now,
    );
    record({ target: stream.id, before: null, after: auditedStream(stream) });
    return { stream: toAuditStreamView(stream, head?.number ?? 0), signingSecret };
  },
});

async function checkTarget(
  { kind, address }: Static<typeof Input>,
  installation: ActionContext['installation'],
): Promise<void> {
  if (kind === 'file') {
    if (address !== undefined) throw invalidInput([{ path: 'address', message: 'leave it out: a file has none' }]);
    if (installation.hasAuditFolder) return;
    const message = 'files need a folder that the operator configures: AUDIT_STREAM_FOLDER';
    throw invalidInput([{ path: 'kind', message }]);
  }
  const message = await externalAddressFault(address ?? '', installation);
  if (message !== null) throw invalidInput([{ path: 'address', message }]);
}

const HEALTHY = { failures: 0, failingSince: null, lastFailure: null, toldAt: null, heldUntil: null };

export const updateAuditStream = defineOperation({
  name: 'update_audit_stream',
  stepUp: true,
  summary: 'Switch a stream of the audit log on or off. It goes on where it was. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ auditStreamId: IdText, isOn: Type.Boolean() }),
  result: AuditStreamView,
  example: { isOn: false },
  async handle({ auditStreamId, isOn }, context) {
    const { caller, stores, record } = context;
    const before = await stores.auditStreams.lock(caller.orgId, auditStreamId);
    await requireOwner(context);
    await stores.auditStreams.save(before.id, { isOn, ...(isOn && HEALTHY) });
    const after = await stores.auditStreams.lock(caller.orgId, auditStreamId);
    record({ target: before.id, before: auditedStream(before), after: auditedStream(after) });
    const head = await stores.auditChain.findHead(caller.orgId);
    return toAuditStreamView(after, head?.number ?? 0);
  },
});

export const deleteAuditStream = defineOperation({
  name: 'delete_audit_stream',
  stepUp: true,
  summary: 'Delete a stream of the audit log. What was sent stays where it is. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({ auditStreamId: IdText }),
  result: Type.Object({ auditStreamId: IdText, deleted: Type.Boolean() }),
  async handle({ auditStreamId }, context) {
    const { caller, stores, record } = context;
    const stream = await stores.auditStreams.lock(caller.orgId, auditStreamId);
    await requireOwner(context);
    await stores.auditStreams.delete(stream.id);
    record({ target: stream.id, before: auditedStream(stream), after: null });
    return { auditStreamId: stream.id, deleted: true };
  },
});

export const listAuditStreams = defineOperation({
  name: 'list_audit_streams',
  summary: 'List where the audit log is streamed to, and how each stream fares.',
  permission: 'organization:manage',
  effect: 'read',
  result: Type.Object({
    streams: Type.Array(AuditStreamView),
    hasFolder: Type.Boolean({ description: 'whether the operator has configured a folder for files' }),
  }),
  async handle(_input, { caller, stores, installation }) {
    const head = await stores.auditChain.findHead(caller.orgId);
    const streams = await stores.auditStreams.list(caller.orgId);
    return {
      streams: streams.map((stream) => toAuditStreamView(stream, head?.number ?? 0)),
      hasFolder: installation.hasAuditFolder,
    };
  },
});

export const AUDIT_STREAM_OPERATIONS = [
  listAuditStreams,
  createAuditStream,
  updateAuditStream,
  deleteAuditStream,
] as const;
