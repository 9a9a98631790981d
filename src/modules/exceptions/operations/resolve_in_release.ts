import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { ChangedGroupView, changeGroupStatuses } from '#modules/exceptions/operations/change_group_statuses.ts';
import { listKnownReleases } from '#modules/exceptions/operations/known_releases.ts';
import { STRICT, IdText, ReleaseName } from '#actions/fields.ts';
import { type Fix, newestRelease, releasesToRemember } from '#modules/exceptions/decide/fix.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

const GROUPS_MAX = 200;
const SERVICES_MAX = 20;

/** Resolves groups whose fix is written and not yet deployed. */
export const resolveInRelease = defineAction({
  name: 'resolve_in_release',
  consoleOnly: true,
  summary:
    'Resolve exception groups, all or none, as fixed in a release that is named, or in the next one: events of code ' +
    'without the fix do not reopen them, later ones do. undo_exception_statuses undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
      // The first release with the fix, known already or not; when left out, the next release.
      release: Type.Optional(ReleaseName),
    },
    STRICT,
  ),
  result: Type.Object({ changed: Type.Array(ChangedGroupView), resolvedIncidentIds: Type.Array(IdText) }),
  example: { groupIds: [EXAMPLE_IDS.groupId], release: '2027.5.2' },
  async handle({ groupIds, release }, context) {
    const { caller, stores, now } = context;
    const groups = [];
    for (const groupId of groupIds) groups.push(await stores.exceptionGroups.get(caller.orgId, groupId, now));
    const serviceIds = [...new Set(groups.map(({ serviceId }) => serviceId))];
    if (serviceIds.length > SERVICES_MAX) {
      throw invalidInput([{ path: 'groupIds', message: `name exceptions of at most ${SERVICES_MAX} services` }]);
    }
    const fixes = new Map<Id<'service'>, Fix>();
    for (const serviceId of serviceIds) fixes.set(serviceId, await fixOf(serviceId, release, context));
    const wanted = groups.flatMap(({ id, serviceId }) => {
      const fix = fixes.get(serviceId);
      return fix === undefined ? [] : [[id, { status: 'resolved', fix }] as const];
    });
    return await changeGroupStatuses(new Map(wanted), context);
  },
});

async function fixOf(serviceId: Id<'service'>, release: string | undefined, context: ActionContext): Promise<Fix> {
  const { caller, stores } = context;
  const service = await stores.services.get(caller.orgId, serviceId);
  const releases = await listKnownReleases(serviceId, context);
  const knownReleases = releasesToRemember(releases);
  if (release !== undefined) return { kind: 'release', release, knownReleases };
  const newest = newestRelease(releases);
  if (newest === null) {
    throw new AppError(
      'conflict',
      `no release of ${service.name} is known, so there is no next one: resolve it without a release`,
    );
  }
  return { kind: 'next_release', release: newest, knownReleases };
}
