import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { LEARNT_FIELDS, SETTINGS_FIELDS } from '#modules/exceptions/operations/exception_settings.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { NO_SETTINGS } from '#modules/exceptions/decide/inbound_filters.ts';

export const getExceptionSettings = defineAction({
  name: 'get_exception_settings',
  consoleOnly: true,
  summary: 'Show which exceptions of a service are left out, which fields are, and how many are kept within an hour.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({ ...SETTINGS_FIELDS, ...LEARNT_FIELDS }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller, stores }) {
    const { id } = await stores.services.get(caller.orgId, serviceId);
    const settings = (await stores.exceptionSettings.find([id])).get(id);
    const { filters, patterns, secretNames, eventsPerHour, learnsSpikes } = settings ?? NO_SETTINGS;
    return {
      filters: [...filters],
      patterns: [...patterns],
      secretNames: [...secretNames],
      eventsPerHour,
      learnsSpikes,
      learntPerHour: settings?.learntPerHour ?? null,
      learntAt: toTimestampOrNull(settings?.learntAt ?? null),
    };
  },
});
