import { type Static, Type } from 'typebox';

import { type AccountContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { linkTokenHash, linkUrl, newLinkToken } from '#auth/secret_text.ts';
import { AppError, type Fault, invalidInput, notFound } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { beginSession, SignInView } from '#modules/accounts/begin_session.ts';
import { proveAddress } from '#modules/accounts/end_access.ts';
import { hashNewPassword, requirePassword } from '#modules/accounts/passwords.ts';
import type { UserRow } from '#modules/accounts/store/people_store.ts';
import { callerUser, EmailField, LinkToken, PasswordField, PersonName, RoleName } from '#modules/accounts/view.ts';
import { findCallerRole, joinInvitedTeams } from '#modules/organizations/roles.ts';
import type { InvitationRow } from '#modules/organizations/store.ts';
import type { Stores } from '#modules/stores.ts';
import type { NewUser } from '#storage/postgres/entities/people.ts';
import { sendInvitation } from '#storage/queue/jobs.ts';

const INVITATION_FIELDS = {
  invitationId: IdText,
  email: Type.String(),
  role: RoleName,
  teamIds: Type.Array(IdText, { description: 'teams that they join' }),
  invitedBy: nullable(Type.String({ description: 'the name of who asked' })),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  status: Type.Enum(['pending', 'accepted', 'expired']),
};

const InvitationView = Type.Object(INVITATION_FIELDS);

function toInvitationView(row: InvitationRow): Static<typeof InvitationView> {
  const { invitationId, email, role, teamIds, invitedBy, createdAt, expiresAt, acceptedAt, isOpen } = row;
  return {
    invitationId,
    email,
    role,
    teamIds: [...teamIds],
    invitedBy,
    createdAt: toTimestamp(createdAt),
    expiresAt: toTimestamp(expiresAt),
    status: acceptedAt === null ? (isOpen ? 'pending' : 'expired') : 'accepted',
  };
}

const VALID_HOURS = 7 * 24;
const TEAMS_MAX = 20;

/** Creates an invitation; an earlier one of the same address is void. */
export const createInvitation = defineOperation({
  name: 'create_invitation',
  summary:
    'Invite somebody by a link that works once, within seven days. It is mailed where this server sends mail, and shown here once.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: StrictObject({
    email: EmailField,
    role: RoleName,
    teamIds: Type.Optional(Type.Array(IdText, { maxItems: TEAMS_MAX, description: 'teams that they join' })),
  }),
  result: Type.Object({
    ...INVITATION_FIELDS,
    link: Type.String({ description: 'shown this once' }),
    isMailed: Type.Boolean({ description: 'another link is on its way by mail' }),
  }),
  conflict: 'the person is a member already',
  example: { email: 'nora@example.com', role: 'editor', teamIds: [EXAMPLE_IDS.teamId] },
  async handle({ email, role, teamIds = [] }, { caller, stores, now, record, enqueue, baseUrl, installation }) {
    const { orgId } = caller;
    if (role === 'owner' && (await findCallerRole(stores, caller)) !== 'owner') {
      throw new AppError('forbidden', 'only an owner can invite an owner');
    }
    const teams = new Map((await stores.teams.findAll(orgId, teamIds)).map((team) => [team.id as string, team.id]));
    const joined = [...new Set(teamIds)].map((teamId, place) => {
      const id = teams.get(teamId);
      if (id === undefined) throw notFound(`teamIds[${place}]`, 'team');
      return id;
    });
    const user = await stores.people.findUserByEmail(email);
    if (user !== null && (await stores.people.findRole(orgId, user.id)) !== null) {
      throw new AppError('conflict', `${email} is a member of the organization already`);
    }
    const { token, tokenHash } = newLinkToken('invitation');
    const link = linkUrl(baseUrl, 'invitation', token);
    const expiresAt = now.add({ hours: VALID_HOURS });
    const mailed = installation.hasMail ? newLinkToken('invitation') : null;
    const mailedTokenHash = mailed === null ? null : mailed.tokenHash;
    const wanted = {
      orgId,
      email,
      role,
      teamIds: joined,
      tokenHash,
      mailedTokenHash,
      invitedBy: callerUser(caller),
      expiresAt,
    };
    const invitationId = await stores.invitations.insert(wanted, now);
    record({
      target: invitationId,
      before: null,
      after: { email, role, ...(joined.length > 0 && { teamIds: joined }) },
    });
    if (mailed !== null) {
      // The author is shown another link: only reading the mail proves that somebody has the address.
      const mailedLink = linkUrl(baseUrl, 'invitation', mailed.token);
      const sealedLink = installation.ciphers.invitations.encrypt(mailedLink).toString('base64');
      enqueue(sendInvitation, { invitationId, orgId, sealedLink });
    }
    const made = await stores.invitations.find(orgId, invitationId, now);
    if (made === null) throw new Error('an invitation that was just made is there');
    return { ...toInvitationView(made), link, isMailed: mailed !== null };
  },
});

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listInvitations = defineOperation({
  name: 'list_invitations',
  summary: 'List who was invited page by page, newest first; invitations that were revoked are left out.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    isAccepted: Type.Optional(Type.Boolean({ description: 'only those that were accepted, or only those not yet' })),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    invitations: Type.Array(InvitationView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: { isAccepted: false, cursor: '1767225600000.invitation_01k9z8kb2c3d4e5f6g7h8j9kmp', limit: 20 },
  async handle({ isAccepted, cursor, limit = LIMIT }, { caller, stores, now }) {
    const wanted = { isAccepted };
    const after = cursor === undefined ? null : parseTimeCursor('invitation', cursor);
    const invitations = await stores.invitations.list(caller.orgId, wanted, { after, limit: limit + 1 }, now);
    const { shown, nextCursor } = pageOf(invitations, limit, (last) =>
      timeCursorOf({ at: last.createdAt, id: last.invitationId }),
    );
    return {
      invitations: shown.map(toInvitationView),
      total: await stores.invitations.count(caller.orgId, wanted, now),
      nextCursor,
    };
  },
});

export const getInvitation = defineOperation({
  name: 'get_invitation',
  scope: 'anyone',
  route: 'GET /invitations/:token',
  summary: 'Show who invites whom to which organization. The link is the credential.',
  effect: 'read',
  input: StrictObject({ token: LinkToken }),
  result: Type.Object({
    organization: Type.Object({ name: Type.String() }),
    email: Type.String(),
    role: RoleName,
    invitedBy: nullable(Type.String()),
    hasAccount: Type.Boolean({ description: 'whether to ask for the password of the account, or to make one' }),
  }),
  refusals: ['not_found'],
  example: { token: 'tocsin_inv_0' },
  async handle({ token }, { stores, now }) {
    const { organizationName, email, role, invitedBy } = await getOpenInvitation(stores, token, now);
    const hasAccount = (await stores.people.findUserByEmail(email)) !== null;
    return { organization: { name: organizationName }, email, role, invitedBy, hasAccount };
  },
});

const Acceptance = StrictObject({
  token: LinkToken,
  name: Type.Optional(PersonName),
  password: Type.Optional(PasswordField),
});

/** Accepts an invitation. Of several calls at once with one of them, one succeeds. A member keeps their role. */
export const acceptInvitation = defineOperation({
  name: 'accept_invitation',
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
        : { user: await provenAccount(user, input, context) };
    return { invitation, joining };
  },
  async handle(_input, context, { invitation, joining }) {
    const { stores, now, record, enqueue } = context;
    const { people, invitations } = stores;
    const { orgId, role, invitationId, isMailed } = invitation;
    await people.lockMemberships(orgId);
    const isStillOpen = (await invitations.find(orgId, invitationId, now))?.isOpen === true;
    if (!isStillOpen || !(await invitations.accept(invitationId, now))) throw invitationNotValid();
    const { id: userId } = 'user' in joining ? joining.user : await people.insertUser(joining.account, now);
    if (isMailed) await proveAddress(context, userId);
    const present = await people.findRole(orgId, userId);
    if (present === null) await people.setMembership(orgId, userId, role, now);
    await joinInvitedTeams({ stores, now, enqueue }, invitation, { userId, role: present ?? role });
    record({ userId, orgId, target: invitationId, before: null, after: { userId, role } });
    return await beginSession(context, userId);
  },
});

/** A person with an account, or the account that is made with it. */
type Joining = { readonly user: UserRow } | { readonly account: NewUser };

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

export const revokeInvitation = defineOperation({
  name: 'revoke_invitation',
  summary: 'Revoke an invitation: its link stops working from the next request on.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({ invitationId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), invitationId: IdText }),
  async handle({ invitationId }, { caller, stores, now, record }) {
    const invitation = await stores.invitations.find(caller.orgId, invitationId, now);
    if (invitation === null || !(await stores.invitations.revoke(caller.orgId, invitationId, now))) {
      throw new AppError('not_found', 'the organization has no open invitation with this id');
    }
    const { email, role } = invitation;
    record({ target: invitationId, before: { email, role }, after: null });
    return { deleted: true as const, invitationId };
  },
});

/** An open invitation. `isMailed`: by the link in the mail, which is shown only to its receiver. */
type OpenInvitation = InvitationRow & { readonly isMailed: boolean };

/** Throws `not_found`, in the same words for an invitation that is unknown, used, revoked or expired. */
async function getOpenInvitation(
  { invitations }: Pick<Stores, 'invitations'>,
  token: string,
  now: Temporal.Instant,
): Promise<OpenInvitation> {
  const hash = linkTokenHash('invitation', token);
  const invitation = hash === null ? null : await invitations.findOpen(hash, now);
  if (invitation === null) throw invitationNotValid();
  return invitation;
}

function invitationNotValid(): AppError {
  return new AppError('not_found', 'this invitation is not valid, or was used or revoked, or has expired');
}
