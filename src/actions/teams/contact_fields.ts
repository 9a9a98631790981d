import { Type } from 'typebox';

import { E164_PATTERN } from '#core/oncall/e164.ts';

export const Phone = Type.String({
  pattern: E164_PATTERN,
  description: 'a phone number in E.164 form, such as +31612345678',
});

/** The channels that a member wants to be reached through. */
export const CHANNEL_SWITCHES = {
  smsEnabled: Type.Optional(Type.Boolean()),
  callEnabled: Type.Optional(Type.Boolean()),
  pushEnabled: Type.Optional(Type.Boolean()),
  emailEnabled: Type.Optional(Type.Boolean()),
};
