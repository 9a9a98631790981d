import { Type } from 'typebox';

import { changesSince, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { RETENTION_DAYS_MAX } from '#modules/capabilities/decide/capability.ts';
import { changeService } from '#modules/services/change_service.ts';
import { CapabilityName, SERVICE_EXAMPLE, ServiceView } from '#modules/services/view.ts';

const RETENTION_COLUMNS = {
  metrics: 'retentionMetrics',
  exceptions: 'retentionExceptions',
  oncall: 'retentionOncall',
} as const;

export const setRetention = defineAction({
  name: 'set_retention',
  summary:
    'Set how many days the data of a capability is kept. Older data is hidden at once and removed within an hour.',
  guidance: 'Shortening it deletes data for good, which needs services:delete: ask your user first.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({
    serviceId: IdText,
    capability: CapabilityName,
    retentionDays: Type.Integer({ minimum: 1, maximum: RETENTION_DAYS_MAX }),
  }),
  result: ServiceView,
  example: { serviceId: IDS.serviceId, capability: 'exceptions', retentionDays: 60 },
  exampleResult: {
    ...SERVICE_EXAMPLE,
    retentionDays: { ...SERVICE_EXAMPLE.retentionDays, exceptions: 60 },
    updatedAt: '2027-02-01T13:20:11.046Z',
  },
  async handle({ serviceId, capability, retentionDays }, context) {
    const changed = await changeService(serviceId, context, (service) => {
      requireShortening(service[RETENTION_COLUMNS[capability]], retentionDays, context.caller);
      service[RETENTION_COLUMNS[capability]] = retentionDays;
    });
    if (capability === 'exceptions') {
      await context.stores.exceptionCounts.markServiceDue(asId('service', serviceId), context.now);
    }
    return changed;
  },
});

/** Throws `forbidden` when it deletes data, and the caller may not delete a service with its data. */
function requireShortening(before: number, after: number, { permissions }: Pick<Caller, 'permissions'>): void {
  if (after >= before || permissions.has('services:delete')) return;
  throw new AppError(
    'forbidden',
    `keeping data for ${after} days instead of ${before} deletes what is older for good, which needs the permission services:delete`,
  );
}

/** Does what `set_retention` does, but refuses to overwrite a change made since the editor read it. */
export const editRetention = defineOperation({
  name: 'edit_retention',
  summary:
    'Set how many days the data of a capability is kept, unless somebody else has set it since it was read. Older data is hidden at once and removed within an hour.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({
    ...setRetention.input.properties,
    basedOn: Type.Integer({ description: 'the days that were read' }),
  }),
  result: ServiceView,
  conflict: 'somebody has set it to something else since it was read',
  example: { ...setRetention.example, basedOn: 90 },
  async handle({ basedOn, ...input }, context) {
    const { stores, caller } = context;
    const service = await stores.services.lock(caller.orgId, input.serviceId);
    const current = service[RETENTION_COLUMNS[input.capability]];
    changesSince({ days: basedOn }, { days: current }, { days: input.retentionDays }, 'how long this data is kept');
    return await setRetention.handle(input, context, undefined);
  },
});
