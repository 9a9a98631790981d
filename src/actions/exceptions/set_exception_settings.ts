import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { LEARNT_FIELDS, SETTINGS_EXAMPLE, SETTINGS_FIELDS } from '#actions/exceptions/exception_settings.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { NO_SETTINGS } from '#core/exceptions/inbound_filters.ts';

export const setExceptionSettings = defineAction({
  name: 'set_exception_settings',
  consoleOnly: true,
  summary: 'Choose which exceptions of a service are left out, which fields are, and how many are kept within an hour.',
  permission: 'services:edit',
  effect: 'write',
  input: Type.Object(
    { serviceId: IdText, ...SETTINGS_FIELDS, learnsSpikes: Type.Optional(LEARNT_FIELDS.learnsSpikes) },
    CLOSED,
  ),
  result: Type.Object({ ...SETTINGS_FIELDS, learnsSpikes: LEARNT_FIELDS.learnsSpikes }),
  example: { serviceId: EXAMPLE_IDS.serviceId, ...SETTINGS_EXAMPLE, learnsSpikes: true },
  async handle({ serviceId, learnsSpikes = false, ...given }, { caller, stores, now, record }) {
    const { id } = await stores.services.get(caller.orgId, serviceId);
    const settings = { ...given, learnsSpikes };
    const {
      learntPerHour: _,
      learntAt: __,
      ...before
    } = {
      learntPerHour: null,
      learntAt: null,
      ...((await stores.exceptionSettings.find([id])).get(id) ?? NO_SETTINGS),
    };
    await stores.exceptionSettings.save(id, settings, now);
    record({ target: id, before, after: settings });
    return settings;
  },
});
