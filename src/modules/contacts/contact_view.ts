import { Type } from 'typebox';

import { nullable } from '#actions/fields.ts';
import { CHANNEL_SWITCHES_VIEW } from '#modules/teams/view.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import { recordOf } from '#kernel/record_of.ts';
import type { Preferences } from '#modules/contacts/decide/contact.ts';

/** Settings by which a team reaches somebody. */
export const ContactView = Type.Object({
  phone: nullable(Type.String({ description: 'E.164' })),
  ...CHANNEL_SWITCHES_VIEW,
});

export function toContactView(contact: Preferences) {
  return { phone: contact.phone, ...recordOf(CHANNEL_PREFERENCES, (preference) => contact[preference]) };
}
