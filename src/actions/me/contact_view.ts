import { Type } from 'typebox';

import { nullable } from '#actions/fields.ts';
import type { MemberContact } from '#storage/postgres/team_store.ts';

/** How a team reaches somebody. */
export const ContactView = Type.Object({
  phone: nullable(Type.String({ description: 'E.164' })),
  smsEnabled: Type.Boolean(),
  callEnabled: Type.Boolean(),
  pushEnabled: Type.Boolean(),
  emailEnabled: Type.Boolean(),
});

export function toContactView({ phone, smsEnabled, callEnabled, pushEnabled, emailEnabled }: MemberContact) {
  return { phone, smsEnabled, callEnabled, pushEnabled, emailEnabled };
}
