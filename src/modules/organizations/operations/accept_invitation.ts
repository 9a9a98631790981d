import { type Static, Type } from 'typebox';

import { beginSession, SignInView } from '#modules/accounts/begin_session.ts';
import { LinkToken, PasswordField, PersonName } from '#modules/accounts/fields.ts';
import { proveAddress } from '#modules/accounts/end_access.ts';
import { hashNewPassword } from '#modules/accounts/hash_new_password.ts';
import { requirePassword } from '#modules/accounts/require_password.ts';
import { type AccountContext, defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import {
  getOpenInvitation,
  invitationNotValid,
  type OpenInvitation,
} from '#modules/organizations/operations/open_invitation.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import type { NewUser } from '#storage/postgres/entities/people.ts';
import type { UserRow } from '#modules/accounts/store/people_store.ts';
import { joinInvitedTeams } from '#modules/organizations/join_invited_teams.ts';

const Acceptance = Type.Object(
  { token: LinkToken, name: Type.Optional(PersonName), password: Type.Optional(PasswordField) },
  STRICT,
);

/** Accepts an invitation. Of several calls at once with one of them, one succeeds. A member keeps their role. */
export const acceptInvitation = defineAction({
  name: 'accept_invitation',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /invitations/:token',
  summary:
    'Accept an invitation: with a name and a password for a new account, with the password of the existing account, or with neither when signed in as the invited person. The answer sets the cookie of a session.',
  effect: 'write',
  input: Acceptance,
  result: SignInView,
  refusals: ['not_found', 'rate_limited'],
  example: { token: 'tocsin_inv_0', name: 'Nora', password: 'amber kettle 41 orbit' },
  async prepare(input, context) {
    const { stores, now } = context;
    const invitation = await getOpenInvitation(stores, input.token, now);
    const user = await stores.people.findUserByEmail(invitation.email);
    const joining: Joining =
      user === null
        ? { account: await newAccount(invitation, input) }
        : { known: await provenAccount(user, input, context) };
    return { invitation, joining };
  },
  async handle(_input, context, { invitation, joining }) {
    const { stores, now, record } = context;
    const { people, invitations } = stores;
    const { orgId, role, invitationId, isMailed } = invitation;
    await people.lockMemberships(orgId);
    const isStillOpen = (await invitations.find(orgId, invitationId, now))?.isOpen === true;
    if (!isStillOpen || !(await invitations.accept(invitationId, now))) throw invitationNotValid();
    const { id: userId } = 'known' in joining ? joining.known : await people.insertUser(joining.account, now);
    if (isMailed) await proveAddress(context, userId);
    if ((await people.findRole(orgId, userId)) === null) await people.setMembership(orgId, userId, role, now);
    await joinInvitedTeams(stores, invitation, userId, now);
    record({ userId, orgId, target: invitationId, before: null, after: { userId, role } });
    return await beginSession(context, userId);
  },
});

/** A person with an account, or the account that is made with it. */
type Joining = { readonly known: UserRow } | { readonly account: NewUser };

async function newAccount({ email, isMailed }: OpenInvitation, { name, password }: Static<typeof Acceptance>) {
  const faults: Fault[] = [
    ...(name === undefined
      ? [{ path: 'name', message: 'is required, since there is no account of this address' }]
      : []),
    ...(password === undefined ? [{ path: 'password', message: 'is required' }] : []),
  ];
  if (name === undefined || password === undefined) throw invalidInput(faults);
  const passwordHash = await hashNewPassword('password', password, { email, name });
  return { email, name, passwordHash, isAddressProven: isMailed };
}

async function provenAccount(
  userRow: UserRow,
  { name, password }: Static<typeof Acceptance>,
  context: AccountContext,
): Promise<UserRow> {
  if (name !== undefined) {
    throw invalidInput([{ path: 'name', message: 'must be left out: there is an account of this address' }]);
  }
  if (password !== undefined) return await withPassword(userRow.email, password, context);
  if ((await context.browser.findSignedIn()) === userRow.id) return userRow;
  throw invalidInput([{ path: 'password', message: 'is required, unless you are signed in as the invited person' }]);
}

async function withPassword(email: string, password: string, context: AccountContext): Promise<UserRow> {
  return await requirePassword(context, { email, password }).catch((error: unknown) => {
    // Not `unauthenticated`: somebody else may be signed in in this browser, and stays so.
    if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
    throw invalidInput([{ path: 'password', message: 'is not the password of this account' }]);
  });
}
