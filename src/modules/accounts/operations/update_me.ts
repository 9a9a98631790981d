import { Type } from 'typebox';

import { PersonName } from '#modules/accounts/fields.ts';
import { readSignedIn, SignedInView } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT } from '#actions/fields.ts';

const NameRead = Type.String({ description: 'the name that was read' });

export const updateMe = defineAction({
  name: 'update_me',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'PATCH /me',
  summary: 'Change your name.',
  effect: 'write',
  input: Type.Object({ name: Type.Optional(PersonName), basedOn: Type.Optional(NameRead) }, STRICT),
  result: SignedInView,
  conflict: 'the name was changed since it was read',
  example: { name: 'Anna', basedOn: 'Ann' },
  async handle({ name, basedOn }, { stores, now, session, record }) {
    const { userId } = session;
    const before = await stores.people.lockUser(userId);
    if (before !== null && name !== undefined && before.name !== name) {
      if (basedOn !== undefined) changesSince({ name: basedOn }, before, { name }, 'your name');
      await stores.people.saveName(userId, name, now);
      record({ userId, target: userId, before: { name: before.name }, after: { name } });
    }
    return await readSignedIn(stores, session);
  },
});
