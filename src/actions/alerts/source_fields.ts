import { Type } from 'typebox';

import { nullable } from '#actions/fields.ts';
import { GROUP_MINUTES_MAX } from '#core/incidents/rule_settings.ts';

const LEASE_MINUTES_MAX = 44_640;

/** What people set of a source. */
export const SOURCE_SETTING_FIELDS = {
  incidentsPer: Type.Enum(['group', 'alert'], {
    description: 'group: alerts that their tool calls one group share an incident; alert: each has its own',
  }),
  leaseMinutes: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LEASE_MINUTES_MAX,
      description: 'an alert that nobody repeats for so long has no word; null: as the tool says, or as was learnt',
    }),
  ),
  onSilence: Type.Enum(['keep', 'resolve'], { description: 'what becomes of an alert without word' }),
  groupMinutes: Type.Integer({
    minimum: 0,
    maximum: GROUP_MINUTES_MAX,
    description: 'what opens so soon after another incident of the service is linked to it and does not page beside it',
  }),
};

export const SourceSettingsView = Type.Object(SOURCE_SETTING_FIELDS);
