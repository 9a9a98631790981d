import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';

import { auditGenesis } from '#auth/audit_chain.ts';
import type { Cipher } from '#auth/cipher.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { isAtOrBefore, toTimestamp } from '#kernel/time.ts';
import {
  afterFailure,
  type ChainRow,
  ROWS_AT_ONCE,
  rowsAtOnce,
  toStreamedRow,
} from '#modules/audit/decide/audit_stream.ts';
import type { AuditStreamRow } from '#modules/audit/store/audit_stream_store.ts';
import { webhookHeaders } from '#modules/places/decide/webhook_signature.ts';
import { inUnitOfWork, type Stores, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { exchange, outcomeOfStatus, type PlaceHttp } from '#notify/places/exchange.ts';
import { sendAuditStreamFailing } from '#storage/queue/jobs.ts';

const NEWLINE = 0x0a;
/** Bytes at the end of a file that are looked at first; nearly every row is smaller. */
const TAIL_BYTES = 4 * 1_024 * 1_024;

/**
 * Appends rows to a file, one JSON object a line, and waits until they are on the disk. A line that a crash cut short
 * is removed first, and rows that the file ends with already are left out.
 */
async function appendRows(folder: string, name: string, rows: readonly ChainRow[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const file = await open(path.join(folder, name), 'a+', 0o640);
  try {
    const { from, tail } = await readEnd(file);
    const end = tail.lastIndexOf(NEWLINE) + 1;
    if (end < tail.length) await file.truncate(from + end);
    const last = lastRowOf(tail.subarray(0, end));
    const [first] = rows;
    // Another chain, as after a restore, is written in full.
    const position = last !== null && first !== undefined ? rows.findIndex((row) => isSame(row, last)) : -1;
    const lines = rows.slice(position + 1).map((row) => `${JSON.stringify(toStreamedRow(row))}\n`);
    if (lines.length > 0) await file.appendFile(lines.join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads the end of a file with at least its last whole line, and whatever a crash left behind that. */
async function readEnd(file: FileHandle): Promise<{ readonly from: number; readonly tail: Buffer }> {
  const { size } = await file.stat();
  for (let length = TAIL_BYTES; ; length *= 4) {
    const from = Math.max(0, size - length);
    const tail = Buffer.alloc(size - from);
    await file.read(tail, 0, tail.length, from);
    const end = tail.lastIndexOf(NEWLINE);
    if (from === 0 || (end > 0 && tail.lastIndexOf(NEWLINE, end - 1) >= 0)) return { from, tail };
  }
}

interface WrittenRow {
  readonly number: number;
  readonly hash: string;
}

function lastRowOf(tail: Buffer): WrittenRow | null {
  if (tail.length === 0) return null;
  const begin = tail.lastIndexOf(NEWLINE, tail.length - 2) + 1;
  try {
    return JSON.parse(tail.toString('utf8', begin)) as WrittenRow;
  } catch {
    return null;
  }
}

function isSame({ number, hash }: ChainRow, written: WrittenRow): boolean {
  return number === written.number && hash.toString('hex') === written.hash;
}

export interface AuditStreamRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly auditCipher: Cipher;
  readonly auditHttp: PlaceHttp;
  /** Folder of the files, which the operator has configured; undefined for none. */
  readonly auditStreamFolder: string | undefined;
}

export interface WebhookTarget {
  readonly address: string;
  readonly signingSecret: string;
}

/** Duration for which a process has the turn of a stream, and for which it begins sending. */
const TURN_SECONDS = 45;
const SENDING_SECONDS = 20;

type Sent = { readonly kind: 'sent' } | { readonly kind: 'failed'; readonly reason: string; readonly afterMs?: number };

/**
 * Sends the rows of an audit log behind the cursor of a stream, in the order of the chain, until it has caught up, it
 * fails, or the turn is over. Nothing is locked meanwhile, and whatever is audited waits for none of it. The cursor moves
 * once rows were taken: after a crash they are sent again.
 */
export async function streamAudit(runtime: AuditStreamRuntime, streamId: Id<'auditstream'>): Promise<void> {
  const stores = storesOf(runtime.db.session());
  const begunAt = runtime.clock.now();
  const until = begunAt.add({ seconds: TURN_SECONDS });
  const lastAt = begunAt.add({ seconds: SENDING_SECONDS });
  let stream = await stores.auditStreams.claim(streamId, begunAt, until);
  try {
    while (stream !== null && stream.isOn && !isAtOrBefore(lastAt, runtime.clock.now())) {
      if (!(await sendNext(runtime, stores, stream))) return;
      stream = await stores.auditStreams.find(streamId);
    }
  } finally {
    await stores.auditStreams.release(streamId, until);
  }
}

/** Sends some rows; returns whether there may be more to send now. */
async function sendNext(runtime: AuditStreamRuntime, stores: Stores, stream: AuditStreamRow): Promise<boolean> {
  const { auditChain, auditStreams } = stores;
  const head = await auditChain.findHead(stream.orgId);
  const after = (await isOfThisChain(stores, stream)) ? stream.sentNumber : 0;
  if (head === null || head.number <= after) {
    if (after !== stream.sentNumber) await auditStreams.save(stream.id, { sentNumber: 0, sentHash: null });
    return false;
  }
  const rows = rowsAtOnce(await auditChain.list(stream.orgId, after, head.number, ROWS_AT_ONCE));
  const last = rows.at(-1);
  if (last === undefined) return false;
  const previous = after === 0 || stream.sentHash === null ? auditGenesis(stream.orgId) : stream.sentHash;
  const sent = await send(runtime, stream, rows, previous);
  const now = runtime.clock.now();
  if (sent.kind === 'sent') {
    await auditStreams.save(stream.id, {
      sentNumber: last.number,
      sentHash: last.hash,
      lastSuccessAt: now,
      failures: 0,
      failingSince: null,
      lastFailure: null,
      toldAt: null,
      heldUntil: null,
    });
    return true;
  }
  const { health, tells } = afterFailure(stream, sent, now);
  await inUnitOfWork(runtime, async (unit) => {
    await unit.stores.auditStreams.save(stream.id, health);
    if (!tells) return;
    for (const { userId, role } of await unit.stores.people.listPlaces(stream.orgId)) {
      if (role === 'owner') unit.enqueue(sendAuditStreamFailing, { auditStreamId: stream.id, userId });
    }
  });
  return false;
}

/** Whether the last row that was sent is in the log as it is now: after a restore it may be another. */
async function isOfThisChain({ auditChain }: Stores, stream: AuditStreamRow): Promise<boolean> {
  const { orgId, sentNumber, sentHash } = stream;
  if (sentNumber === 0 || sentHash === null) return true;
  const [row] = await auditChain.list(orgId, sentNumber - 1, sentNumber, 1);
  return row !== undefined && row.hash.equals(sentHash);
}

async function send(
  runtime: AuditStreamRuntime,
  stream: AuditStreamRow,
  rows: readonly ChainRow[],
  previous: Buffer,
): Promise<Sent> {
  try {
    return stream.sealed === null
      ? await toFile(runtime, stream, rows)
      : await toWebhook(runtime, stream, { sealed: stream.sealed, rows, previous });
  } catch (error) {
    runtime.log.error(
      { auditStreamId: stream.id, err: messageOf(error) },
      'rows of an audit log could not be streamed',
    );
    return { kind: 'failed', reason: 'Tocsin could not write them; its log says why.' };
  }
}

async function toFile({ auditStreamFolder }: AuditStreamRuntime, { shown }: AuditStreamRow, rows: readonly ChainRow[]) {
  if (auditStreamFolder === undefined) {
    return { kind: 'failed', reason: 'AUDIT_STREAM_FOLDER is not set any more; set it on every worker.' } as const;
  }
  await appendRows(auditStreamFolder, shown, rows);
  return { kind: 'sent' } as const;
}

async function toWebhook(
  { auditCipher, auditHttp, clock }: AuditStreamRuntime,
  { id: streamId, orgId }: AuditStreamRow,
  {
    sealed,
    rows,
    previous,
  }: { readonly sealed: Buffer; readonly rows: readonly ChainRow[]; readonly previous: Buffer },
): Promise<Sent> {
  const { address, signingSecret } = openTarget(auditCipher, sealed);
  const nowMs = clock.now().epochMilliseconds;
  const body = JSON.stringify({
    type: 'audit.rows',
    timestamp: toTimestamp(clock.now()),
    data: { organizationId: orgId, previousHash: previous.toString('hex'), rows: rows.map(toStreamedRow) },
  });
  const id = `${streamId}_${rows[0]?.number ?? 0}_${rows.at(-1)?.number ?? 0}`;
  const headers = {
    'content-type': 'application/json',
    ...webhookHeaders({ id, body, sentAtSeconds: Math.floor(nowMs / 1_000) }, [signingSecret]),
  };
  const answer = await exchange(auditHttp, { url: address, headers, body, nowMs });
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status < 300) return { kind: 'sent' };
  const outcome = answer.kind === 'failed' ? answer.outcome : outcomeOfStatus(answer);
  if (outcome?.kind !== 'retry') {
    return { kind: 'failed', reason: answer.kind === 'failed' ? '' : `It answers with status ${answer.status}.` };
  }
  const { reason, afterMs } = outcome;
  return { kind: 'failed', reason, ...(afterMs !== undefined && { afterMs }) };
}

export function sealTarget(cipher: Cipher, target: WebhookTarget): Buffer {
  return cipher.encrypt(JSON.stringify(target));
}

function openTarget(cipher: Cipher, sealed: Buffer): WebhookTarget {
  return JSON.parse(cipher.decrypt(sealed)) as WebhookTarget;
}
