import { defineEntity, p } from '@mikro-orm/postgresql';

import type { ResourceKind } from '#modules/configuration/decide/resource.ts';
import { id, instant, text } from '#storage/postgres/entities/column_types.ts';

/** The key that a configuration file has for a resource. */
export const ManagedResourceEntity = defineEntity({
  name: 'ManagedResource',
  tableName: 'managed_resources',
  properties: {
    orgId: id<'org'>().primary(),
    kind: text<ResourceKind>().primary(),
    key: p.text().primary(),
    resourceId: p.text(),
    /** Name of the file that was applied last. */
    file: p.text(),
    /** Whether a file made the resource. */
    isMade: p.boolean(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});
