import { defineEntity, p } from '@mikro-orm/postgresql';

import type { Actor } from '#kernel/caller.ts';
import type { Via } from '#modules/accounts/decide/via.ts';
import { bigint, bytes, id, instant, jsonColumn, text } from '#storage/postgres/entities/column_types.ts';

/** Append-only; the table itself refuses updates. */
export const AuditLogEntity = defineEntity({
  name: 'AuditLog',
  tableName: 'audit_log',
  properties: {
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
  },
});

/** The hash chain of an organization's audit log; triggers write it. */
export const AuditLinkEntity = defineEntity({
  name: 'AuditLink',
  tableName: 'audit_links',
  properties: {
    orgId: id<'org'>().primary(),
    number: bigint().primary(),
    auditId: id<'audit'>(),
    hash: bytes(),
  },
});

/** The last link of each chain. */
export const AuditHeadEntity = defineEntity({
  name: 'AuditHead',
  tableName: 'audit_heads',
  properties: {
    orgId: id<'org'>().primary(),
    number: bigint(),
    hash: bytes(),
  },
});
