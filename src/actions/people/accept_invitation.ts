import { type Static, Type } from 'typebox';

import { hashNewPassword } from '#actions/account/hash_new_password.ts';
import { type SignInOutcome, beginSession, requirePassword } from '#actions/account/sign_in.ts';
import { RoleName } from '#actions/account/view.ts';
import { nullable } from '#actions/fields.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import { linkTokenHash } from '#auth/link_tokens.ts';
import type { Visitor } from '#auth/sessions.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { InvitationRow } from '#storage/postgres/invitation_store.ts';
import type { UserRow } from '#storage/postgres/people_store.ts';
import { type Stores, storesOf } from '#storage/postgres/stores.ts';

/** What whoever holds the link is shown. */
export const OpenInvitationView = Type.Object({
  organization: Type.Object({ name: Type.String() }),
  email: Type.String(),
  role: RoleName,
  invitedBy: nullable(Type.String()),
  hasAccount: Type.Boolean({ description: 'whether to ask for the password of the account, or to make one' }),
});

/** Throws `not_found`, in the same words for one that is unknown, used, revoked or expired. */
export async function readInvitation(
  stores: Stores,
  token: string,
  now: Temporal.Instant,
): Promise<Static<typeof OpenInvitationView>> {
  const { organizationName, email, role, invitedBy } = await getOpen(stores, token, now);
  const hasAccount = (await stores.people.findUserByEmail(email)) !== null;
  return { organization: { name: organizationName }, email, role, invitedBy, hasAccount };
}

/** How somebody proves that the invitation is theirs. */
export interface Acceptance {
  readonly token: string;
  readonly name?: string;
  readonly password?: string;
  /** Who is signed in already, if anybody. */
  readonly signedInAs: Id<'user'> | null;
}

/**
 * Makes the invited person a member and signs them in: with a new account, with the password of the one they have, or
 * as whoever is signed in already. Of several at once one succeeds. A member keeps the role they have.
 */
export async function acceptInvitation(
  runtime: UnitOfWorkRuntime,
  acceptance: Acceptance,
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<SignInOutcome> {
  const stores = storesOf(runtime.db.session());
  const invitation = await getOpen(stores, acceptance.token, runtime.clock.now());
  const known = await stores.people.findUserByEmail(invitation.email);
  const joining =
    known === null
      ? await newAccount(invitation, acceptance)
      : { known: await provenAccount(runtime, known, acceptance, visitor, origin) };
  return await inUnitOfWork(runtime, async (unit) => {
    const { people, invitations } = unit.stores;
    await people.lockMemberships(invitation.orgId);
    const isStillOpen = (await invitations.find(invitation.orgId, invitation.invitationId, unit.now))?.isOpen === true;
    if (!isStillOpen || !(await invitations.accept(invitation.invitationId, unit.now))) throw notValid();
    const user = 'known' in joining ? joining.known : await people.insertUser(joining.account, unit.now);
    await join(unit, invitation, user, origin);
    return await beginSession(unit, user.id, visitor, origin);
  });
}

async function newAccount({ email }: InvitationRow, { name, password }: Acceptance) {
  const faults: Fault[] = [
    ...(name === undefined
      ? [{ path: 'name', message: 'is required, since there is no account of this address' }]
      : []),
    ...(password === undefined ? [{ path: 'password', message: 'is required' }] : []),
  ];
  if (name === undefined || password === undefined) throw invalidInput(faults);
  return { account: { email, name, passwordHash: await hashNewPassword('password', password, { email, name }) } };
}

async function provenAccount(
  runtime: UnitOfWorkRuntime,
  known: UserRow,
  { name, password, signedInAs }: Acceptance,
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<UserRow> {
  if (name !== undefined) {
    throw invalidInput([{ path: 'name', message: 'must be left out: there is an account of this address' }]);
  }
  if (password === undefined && signedInAs === known.id) return known;
  if (password === undefined) {
    throw invalidInput([{ path: 'password', message: 'is required, unless you are signed in as the invited person' }]);
  }
  return await requirePassword(runtime, { email: known.email, password }, visitor, origin);
}

async function join(
  { stores, now }: UnitOfWork,
  { orgId, role, invitationId }: InvitationRow,
  { id: userId }: UserRow,
  origin: RequestOrigin,
): Promise<void> {
  if ((await stores.people.findRole(orgId, userId)) === null) {
    await stores.people.setMembership(orgId, userId, role, now);
  }
  const actor = { kind: 'user', userId, apiKeyId: null } as const;
  const change = { action: 'accept_invitation', target: invitationId, before: null, after: { userId, role } };
  await stores.audit.append({ orgId, actor, via: 'console', ...change, result: 'done', origin }, now);
}

async function getOpen(stores: Stores, token: string, now: Temporal.Instant): Promise<InvitationRow> {
  const hash = linkTokenHash('invitation', token);
  const found = hash === null ? null : await stores.invitations.findOpen(hash, now);
  if (found === null) throw notValid();
  return found;
}

function notValid(): AppError {
  return new AppError('not_found', 'this invitation is not valid, or was used or revoked, or has expired');
}
