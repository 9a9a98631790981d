import { Type } from 'typebox';

import { nullable, STRICT } from '#actions/fields.ts';
import {
  hasSetting,
  RULE_SETTING_SCHEMAS,
  type RuleSettings,
  settingsOf,
  type StoredSettings,
} from '#modules/rules/decide/rule_settings.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';

const FIELDS = Object.fromEntries(
  Object.entries<object>(RULE_SETTING_SCHEMAS).map(([name, schema]) => [
    name,
    Type.Optional(Type.Unsafe<RuleSettings[keyof RuleSettings]>(schema)),
  ]),
);

/** Fields of a rule for whoever is paged by it. */
export const GUIDANCE_FIELDS = {
  description: nullable(Type.String({ description: 'meaning of its incidents, in Markdown' })),
  runbookUrl: nullable(Type.String({ description: 'instructions for its incidents' })),
};

/** Settings of any kind of rule; which of them a kind has is checked with the kind. */
export const RuleSettingsInput = Type.Unsafe<StoredSettings>(Type.Object(FIELDS, STRICT));

export const RuleSettingsView = Type.Unsafe<StoredSettings>(
  Type.Object(FIELDS, { description: 'what the console sets beside the config, complete for the kind of the rule' }),
);

/** Returns the settings that the kind of the rule has. */
export function shownSettings({ kind, settings }: Pick<AlertRuleRow, 'kind' | 'settings'>): StoredSettings {
  return Object.fromEntries(
    Object.entries(settingsOf(settings)).filter(([name]) => hasSetting(kind, name as keyof RuleSettings)),
  );
}
