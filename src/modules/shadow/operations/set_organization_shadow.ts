import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { SHADOW_FIELDS, sinceAfter } from '#modules/shadow/operations/shadow_fields.ts';

export const setOrganizationShadow = defineAction({
  name: 'set_organization_shadow',
  consoleOnly: true,
  summary:
    'Put the whole organization into shadow mode, in which incidents open and say who would be paged while nobody is, or end it.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ enabled: Type.Boolean() }, STRICT),
  result: Type.Object(SHADOW_FIELDS),
  example: { enabled: false },
  async handle({ enabled }, { caller, stores, now, record }) {
    const current = await stores.shadow.findOrganization(caller.orgId);
    const since = sinceAfter(enabled, current, now);
    const before = await stores.shadow.setOrganization(caller.orgId, since);
    record({
      target: caller.orgId,
      before: { shadowSince: toTimestampOrNull(before) },
      after: { shadowSince: toTimestampOrNull(since) },
    });
    const openIncidents = await stores.shadow.countOpen(caller.orgId, null);
    return { shadowSince: toTimestampOrNull(since), openIncidents };
  },
});
