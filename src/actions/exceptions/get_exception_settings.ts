import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { SETTINGS_FIELDS } from '#actions/exceptions/exception_settings.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { NO_SETTINGS } from '#core/exceptions/inbound_filters.ts';

export const getExceptionSettings = defineAction({
  name: 'get_exception_settings',
  consoleOnly: true,
  summary: 'Show which exceptions of a service are left out, which fields are, and how many are kept within an hour.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, CLOSED),
  result: Type.Object(SETTINGS_FIELDS),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller, stores }) {
    const { id } = await stores.services.get(caller.orgId, serviceId);
    const { filters, patterns, secretNames, eventsPerHour } =
      (await stores.exceptionSettings.find([id])).get(id) ?? NO_SETTINGS;
    return { filters: [...filters], patterns: [...patterns], secretNames: [...secretNames], eventsPerHour };
  },
});
