import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { CapabilityName, ServiceView, SERVICE_EXAMPLE } from '#modules/services/view.ts';
import { RETENTION_DAYS_MAX } from '#modules/capabilities/decide/capability.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';

export const RETENTION_COLUMNS = {
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
  input: Type.Object(
    {
      serviceId: IdText,
      capability: CapabilityName,
      retentionDays: Type.Integer({ minimum: 1, maximum: RETENTION_DAYS_MAX }),
    },
    STRICT,
  ),
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
