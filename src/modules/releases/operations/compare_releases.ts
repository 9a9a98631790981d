import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';

const GROUPS_MAX = 200;
const Release = Type.String({ minLength: 1, maxLength: 200 });

const GroupsView = Type.Object({
  newGroups: Type.Integer({ description: 'whose first event was of this release' }),
  regressedGroups: Type.Integer({ description: 'that came back in it after they were resolved' }),
  resolvedGroups: Type.Integer({
    description: 'that are resolved: said to be fixed in it, or resolved when it was their last release',
  }),
});

/** Compares the effects of two releases. */
export const compareReleases = defineAction({
  name: 'compare_releases',
  consoleOnly: true,
  summary:
    'Compare two releases of a service: how many groups began, came back and were resolved in each, and the events of each ' +
    `group in both, those with most events of the later release first, at most ${GROUPS_MAX}, with how many there are.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText, before: Release, after: Release }, STRICT),
  result: Type.Object({
    before: GroupsView,
    after: GroupsView,
    groups: Type.Array(
      Type.Object({
        groupId: IdText,
        title: Type.String(),
        before: Type.Integer(),
        after: Type.Integer(),
        news: nullable(
          Type.Enum(['new', 'regressed', 'resolved'], { description: 'what the later release was to it' }),
        ),
      }),
    ),
    groupsTotal: Type.Integer(),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, before: '2027.5.0', after: '2027.5.1' },
  async handle({ serviceId, before, after }, { caller, stores, releases, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 24 * service.retentionExceptions });
    const merged = await stores.groupMerges.listOfService(service.id);
    const [{ groups, groupsTotal }, counts] = await Promise.all([
      releases.compare(service.id, since, { before, after }, { limit: GROUPS_MAX, merged }),
      stores.groupReleases.countByRelease(service.id),
    ]);
    const ids = groups.map(({ groupId }) => groupId);
    const [titles, news] = await Promise.all([
      stores.releases.titlesOfGroups(caller.orgId, ids),
      stores.groupReleases.listNews(service.id, after, ids),
    ]);
    const countsOf = (release: string) => {
      const count = counts.find((row) => row.release === release);
      const { begun = 0, regressed = 0, resolved = 0 } = count ?? {};
      return { newGroups: begun, regressedGroups: regressed, resolvedGroups: resolved };
    };
    return {
      before: countsOf(before),
      after: countsOf(after),
      groups: groups.map((group) => ({
        ...group,
        title: titles.get(group.groupId) ?? 'deleted',
        news: news.get(group.groupId) ?? null,
      })),
      groupsTotal,
    };
  },
});
