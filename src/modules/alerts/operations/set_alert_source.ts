import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import {
  OPTIONAL_SOURCE_FIELDS,
  SOURCE_SETTING_FIELDS,
  SourceSettingsView,
} from '#modules/alerts/operations/source_fields.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { sourceSettingsOf } from '#modules/alerts/decide/source_settings.ts';

export const setAlertSource = defineAction({
  name: 'set_alert_source',
  consoleOnly: true,
  summary: 'Set how the alerts of a source share incidents, and what becomes of those that nobody repeats.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ sourceId: IdText, ...SOURCE_SETTING_FIELDS, ...OPTIONAL_SOURCE_FIELDS }, STRICT),
  result: Type.Object({ sourceId: IdText, settings: SourceSettingsView }),
  example: {
    sourceId: IDS.alertSourceId,
    incidentsPer: 'group',
    leaseMinutes: null,
    onSilence: 'keep',
    mapping: null,
    groupMinutes: 0,
    repageMinutes: 60,
  },
  async handle({ sourceId, repageMinutes, ...given }, { stores, caller, now, record }) {
    const source = await stores.alertSources.lock(caller.orgId, sourceId);
    const before = sourceSettingsOf(source.settings);
    const settings = { ...given, repageMinutes: repageMinutes === undefined ? before.repageMinutes : repageMinutes };
    await stores.alertSources.saveSettings(source, settings, now);
    record({ target: source.id, before, after: settings });
    return { sourceId: source.id, settings };
  },
});
