import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, EnvironmentName, IdText, ReleaseName, Timestamp } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';
import type { ReleaseChange } from '#modules/releases/requester.ts';
import { recordDeploy as recordDeployOf } from '#modules/releases/record_deploy.ts';

/** Records a deploy that no build reports. */
export const recordDeploy = defineAction({
  name: 'record_deploy',
  consoleOnly: true,
  summary: 'Record that a release of a service was deployed: charts and incidents show it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      serviceId: IdText,
      release: ReleaseName,
      environment: EnvironmentName,
      at: Type.Optional(Timestamp),
    },
    STRICT,
  ),
  result: Type.Object({ deployId: IdText, at: Timestamp }),
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    release: '2027.5.1',
    environment: 'production',
    at: '2027-05-01T12:00:00Z',
  },
  async handle({ serviceId, release, environment, at }, { caller, stores, now, record, installation: { limits } }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const deploy = { serviceIds: [service.id], release, environment, name: null, url: null, startedAt: null };
    const finishedAt = at === undefined ? null : timeOf(at);
    const author = {
      orgId: caller.orgId,
      note: async ({ target, before, after }: ReleaseChange) => record({ target, before, after }),
    };
    const [recorded] = await recordDeployOf(stores, author, { ...deploy, finishedAt }, { now, limits });
    if (recorded === undefined) throw new Error('no deploy was recorded');
    return { deployId: recorded.id, at: toTimestamp(recorded.finishedAt) };
  },
});

function timeOf(at: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(at);
  } catch {
    throw invalidInput([{ path: 'at', message: 'is not a valid time' }]);
  }
}
