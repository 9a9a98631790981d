import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';

const GROUPS_MAX = 200;
const Release = Type.String({ minLength: 1, maxLength: 200 });

/** What one release brought against another. */
export const compareReleases = defineAction({
  name: 'compare_releases',
  consoleOnly: true,
  summary:
    'Compare two releases of a service: the events of each exception group in both, those with most events of the later ' +
    `release first, at most ${GROUPS_MAX}, with how many there are.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText, before: Release, after: Release }, CLOSED),
  result: Type.Object({
    groups: Type.Array(
      Type.Object({ groupId: IdText, title: Type.String(), before: Type.Integer(), after: Type.Integer() }),
    ),
    groupsTotal: Type.Integer(),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, before: '2027.5.0', after: '2027.5.1' },
  async handle({ serviceId, before, after }, { caller, stores, releases, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 24 * service.retentionExceptions });
    const { groups, groupsTotal } = await releases.compare(service.id, since, { before, after }, GROUPS_MAX);
    const titles = await stores.releases.titlesOfGroups(
      caller.orgId,
      groups.map(({ groupId }) => groupId),
    );
    return {
      groups: groups.map((group) => ({ ...group, title: titles.get(group.groupId) ?? 'deleted' })),
      groupsTotal,
    };
  },
});
