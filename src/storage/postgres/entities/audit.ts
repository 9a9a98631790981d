import { p } from '@mikro-orm/postgresql';

import type { Actor } from '#kernel/caller.ts';
import type { AuditStreamKind } from '#modules/audit/decide/audit_stream.ts';
import type { Via } from '#modules/accounts/decide/caller.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

/** Append-only; the table itself refuses updates. */
export const AuditLogEntity = table('audit_log', {
  id: id<'audit'>().primary(),
  orgId: id<'org'>(),
  at: instant(),
  /** `unknown`: somebody who could not prove to be anybody, and was refused. */
  actor: jsonColumn<Actor | { readonly kind: 'unknown' }>(),
  /** `system`: upkeep that no rule and no person asked for. */
  via: text<Via | 'system'>(),
  action: p.text(),
  target: p.text().strictNullable(),
  before: jsonColumn<object>().strictNullable(),
  after: jsonColumn<object>().strictNullable(),
  result: text<'done' | 'forbidden' | 'refused'>(),
  address: p.text().strictNullable(),
  requestId: p.text(),
});

/** The hash chain of an organization's audit log; triggers write it. */
export const AuditLinkEntity = table('audit_links', {
  orgId: id<'org'>().primary(),
  number: bigint().primary(),
  auditId: id<'audit'>(),
  hash: bytes(),
});

/** The last link of each chain. */
export const AuditHeadEntity = table('audit_heads', { orgId: id<'org'>().primary(), number: bigint(), hash: bytes() });

/** Stream of the audit log of an organization. */
export const AuditStreamEntity = table('audit_streams', {
  id: id<'auditstream'>().primary(),
  orgId: id<'org'>(),
  kind: text<AuditStreamKind>(),
  /** Host of the webhook, or name of the file. */
  shown: p.text(),
  /** Address and signing secret of a webhook, encrypted; null for a file. */
  sealed: bytes().strictNullable(),
  isOn: p.boolean(),
  /** Number of the last row that was taken, and its hash; null before the first. */
  sentNumber: bigint(),
  sentHash: bytes().strictNullable(),
  /** Failures since the last success. */
  failures: p.integer().default(0),
  failingSince: instant().strictNullable(),
  lastFailure: p.text().strictNullable(),
  lastSuccessAt: instant().strictNullable(),
  /** Time at which owners were told that it has failed for a day. */
  toldAt: instant().strictNullable(),
  /** Time until which nothing is sent after a failure. */
  heldUntil: instant().strictNullable(),
  /** Time until which a process has the turn of this stream. */
  claimedUntil: instant().strictNullable(),
  createdAt: instant(),
});
