import { admitByAddress, unprovenText } from '#modules/accounts/unproven_account.ts';
import { Type } from 'typebox';

import { EmailField, RoleName } from '#modules/accounts/view.ts';
import { defineOperation } from '#actions/action_context.ts';
import { IdText, Name, StrictObject } from '#actions/fields.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { findCallerRole } from '#modules/organizations/roles.ts';
import { mailDomainOf } from '#modules/sign_in/decide/claims.ts';
import type { Stores } from '#modules/stores.ts';
import { AppError } from '#kernel/errors.ts';
import type { Role } from '#kernel/permissions.ts';

/** Adds somebody without asking them: for whoever vouches for the address. */
export const addPerson = defineOperation({
  name: 'add_person',
  summary:
    'Add somebody to the organization at once, with an account without a password if they have none. The operator of the installation does this, and owners and admins who apply a file in the console, if the mail domain is proven or there is no other organization; others invite.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: StrictObject({ email: EmailField, name: Name, role: RoleName }),
  result: Type.Object({ userId: IdText, isNew: Type.Boolean({ description: 'whether an account was made' }) }),
  conflict: 'the person is a member already, or has an account whose address was never proven',
  refusals: ['forbidden'],
  example: { email: 'nora@example.com', name: 'Nora', role: 'responder' },
  async handle({ email, name, role }, { caller, stores, now, record }) {
    await requireVouched(stores, caller, email, role);
    const { people } = stores;
    await people.lockMemberships(caller.orgId);
    const present = await people.findUserByEmail(email);
    const { id: userId } =
      present ?? (await people.insertUser({ email, name, passwordHash: null, isAddressProven: false }, now));
    if ((await people.findRole(caller.orgId, userId)) !== null) {
      throw new AppError('conflict', `${email} is a member of the organization already`);
    }
    const admission =
      present === null || (await stores.configuration.isOnlyOrganization(caller.orgId))
        ? null
        : await admitByAddress(stores, caller.orgId, { ...present, userId });
    if (admission === 'refused') throw new AppError('conflict', unprovenText(email));
    await people.setMembership(caller.orgId, userId, role, now);
    const after = { email, name, role, ...(admission === 'emptied' && { endedSetUp: true }) };
    record({ target: userId, before: null, after });
    return { userId, isNew: present === null };
  },
});

/**
 * Throws `forbidden` unless the caller vouches for the address: the operator, or a person in the console whose
 * organization has proven the domain of the address, or is the only one of the installation.
 */
async function requireVouched(stores: Stores, caller: Caller, email: string, role: Role): Promise<void> {
  const { actor, via, orgId, appliesFile } = caller;
  if (actor.kind === 'system') return;
  const isPerson = actor.kind === 'user' && actor.apiKeyId === null && via === 'console' && appliesFile === true;
  const isVouched =
    isPerson &&
    ((await stores.configuration.isOnlyOrganization(orgId)) ||
      (await stores.openId.listProvenDomains(orgId)).has(mailDomainOf(email)));
  if (!isVouched) {
    throw new AppError(
      'forbidden',
      `${email} is no member of the organization: invite them, prove the mail domain on the page Sign-in, or let the operator apply the file by the command line`,
    );
  }
  if (role === 'owner' && (await findCallerRole(stores, caller)) !== 'owner')
    throw new AppError('forbidden', 'only an owner can add an owner');
}
