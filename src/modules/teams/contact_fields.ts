import { Type } from 'typebox';

import { STRICT, nullable } from '#actions/fields.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';
import { recordOf } from '#kernel/record_of.ts';

export const Phone = Type.String({
  pattern: E164_PATTERN,
  description: 'a phone number in E.164 form, such as +31612345678',
});

/** The channels that a member wants to be reached through. */
export const CHANNEL_SWITCHES = recordOf(CHANNEL_PREFERENCES, () => Type.Optional(Type.Boolean()));

/** The channel switches in results. */
export const CHANNEL_SWITCHES_VIEW = recordOf(CHANNEL_PREFERENCES, () => Type.Boolean());

/** Fields of a contact as its editor has read them. */
export const ContactRead = Type.Object(
  { phone: nullable(Type.String({ maxLength: 40 })), ...CHANNEL_SWITCHES_VIEW },
  { ...STRICT, description: 'what was read: what somebody else has changed since is a conflict' },
);
