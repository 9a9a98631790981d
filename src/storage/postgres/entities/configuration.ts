import { p } from '@mikro-orm/postgresql';

import type { ResourceKind } from '#modules/configuration/decide/resource.ts';
import type { UnreadableKind } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import { id, instant, table, text } from '#storage/postgres/entities/column_types.ts';

export const ManagedResourceEntity = table('managed_resources', {
  orgId: id<'org'>().primary(),
  kind: text<ResourceKind>().primary(),
  key: p.text().primary(),
  resourceId: p.text(),
  /** Name of the file that was applied last. */
  file: p.text(),
  isMade: p.boolean(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** A stored row that cannot be read. */
export const UnreadableRowEntity = table('unreadable_rows', {
  kind: text<UnreadableKind>().primary(),
  rowId: p.text().primary(),
  orgId: id<'org'>(),
  name: p.text(),
  since: instant(),
  /** Time of the last scan that could not read it. */
  seenAt: instant(),
  toldAt: instant().strictNullable(),
});
