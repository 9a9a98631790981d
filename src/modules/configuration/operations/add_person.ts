import { Type } from 'typebox';

import { EmailField } from '#modules/accounts/fields.ts';
import { RoleName } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';

/** Adds somebody without asking them: for the operator of the installation, who vouches for the address. */
export const addPerson = defineAction({
  name: 'add_person',
  consoleOnly: true,
  summary:
    'Add somebody to the organization at once, with an account without a password if they have none. Only the operator of the installation does this; others invite.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ email: EmailField, name: Name, role: RoleName }, STRICT),
  result: Type.Object({ userId: IdText, isNew: Type.Boolean({ description: 'whether an account was made' }) }),
  conflict: 'the person is a member already',
  refusals: ['forbidden'],
  example: { email: 'nora@example.com', name: 'Nora', role: 'responder' },
  async handle({ email, name, role }, { caller, stores, now, record }) {
    if (caller.actor.kind !== 'system') {
      throw new AppError(
        'forbidden',
        `${email} is no member of the organization: invite them, or let the operator apply the file by the command line`,
      );
    }
    const { people } = stores;
    await people.lockMemberships(caller.orgId);
    const present = await people.findUserByEmail(email);
    const { id: userId } =
      present ?? (await people.insertUser({ email, name, passwordHash: null, isAddressProven: false }, now));
    if ((await people.findRole(caller.orgId, userId)) !== null) {
      throw new AppError('conflict', `${email} is a member of the organization already`);
    }
    await people.setMembership(caller.orgId, userId, role, now);
    record({ target: userId, before: null, after: { email, name, role } });
    return { userId, isNew: present === null };
  },
});
