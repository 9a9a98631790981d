import type { AccountContext } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import { type AccountDecision, decideAccount } from '#modules/sign_in/decide/account.ts';
import { type Claims, type Profile, roleAfterSignIn, roleOfClaims } from '#modules/sign_in/decide/claims.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import type { OpenIdConnectionRow } from '#modules/sign_in/store.ts';
import { joinInvitedTeams, notifyOfLoweredRole } from '#modules/organizations/roles.ts';

interface Arrival {
  readonly claims: Claims;
  readonly profile: Profile;
  /** Person signed in with their password in the same browser. */
  readonly signedIn: Id<'user'> | null;
}

/**
 * Finds or makes the account of somebody whom the provider has vouched for, brings their role up to date, and returns
 * the account. Memberships are locked: whoever is removed meanwhile does not come in. Throws `ProviderSignInError`.
 */
export async function enterAccount(
  context: AccountContext,
  connection: OpenIdConnectionRow,
  arrival: Arrival,
): Promise<Id<'user'>> {
  const { stores, now } = context;
  const { orgId, issuer } = connection;
  const { profile } = arrival;
  await stores.people.lockMemberships(orgId);
  const decision = await decide(context, connection, arrival);
  const userId =
    decision.kind === 'create'
      ? await createMember(context, connection, arrival)
      : await renewRole(context, connection, arrival, decision);
  await stores.openId.link(orgId, userId, { issuer, subject: profile.subject }, now);
  if (decision.kind === 'create' || decision.isNewLink) {
    const after = { issuer, subject: profile.subject };
    context.record({ userId, orgId, action: 'link_provider_account', target: userId, before: null, after });
  }
  return userId;
}

async function decide(
  { stores }: AccountContext,
  { orgId, issuer }: OpenIdConnectionRow,
  { profile: { subject, email }, signedIn }: Arrival,
): Promise<AccountDecision> {
  const account = await stores.people.findUserByEmail(email);
  const ofAddress =
    account === null
      ? null
      : {
          userId: account.id,
          role: await stores.people.findRole(orgId, account.id),
          hasOtherSubject: await stores.openId.hasSubject(orgId, account.id, issuer),
        };
  return decideAccount({ linked: await stores.openId.findLinked(orgId, { issuer, subject }), ofAddress, signedIn });
}

/**
 * Makes an account without a password, which opens nothing but this organization and only through its provider. Where
 * the provider says nothing about roles, an open invitation of the address gives the role, and is used up by it. One
 * that would make an owner stays open: owners have a password.
 */
async function createMember(
  { stores, now, record, enqueue }: AccountContext,
  connection: OpenIdConnectionRow,
  { claims, profile: { email, name } }: Arrival,
): Promise<Id<'user'>> {
  const { orgId } = connection;
  const invitation = await stores.invitations.findOpenOf(orgId, email, now);
  const isInvited = invitation !== null && invitation.role !== 'owner';
  const invitedRole = connection.roleClaim === null && isInvited ? invitation.role : null;
  const role = invitedRole ?? roleOfClaims(claims, connection);
  if (role === null) throw new ProviderSignInError(connection.roleClaim === null ? 'not_admitted' : 'no_role');
  // Nobody has used a link that was mailed to the address here.
  const user = await stores.people.insertUser({ email, name, passwordHash: null, isAddressProven: false }, now);
  await stores.people.setMembership(orgId, user.id, role, now);
  const isUsed = isInvited && (await stores.invitations.accept(invitation.invitationId, now));
  if (isUsed) await joinInvitedTeams({ stores, now, enqueue }, invitation, { userId: user.id, role });
  const used = isUsed && { invitationId: invitation.invitationId };
  const after = { email, name, role, by: 'provider', ...used };
  record({ userId: user.id, orgId, action: 'create_user', target: user.id, before: null, after });
  return user.id;
}

async function renewRole(
  { stores, now, record, enqueue }: AccountContext,
  connection: OpenIdConnectionRow,
  { claims }: Arrival,
  { userId, role }: Extract<AccountDecision, { kind: 'sign_in' }>,
): Promise<Id<'user'>> {
  const { orgId } = connection;
  const isLastOwner = role === 'owner' && (await stores.people.countOwners(orgId)) <= 1;
  const renewed = roleAfterSignIn({ role, isLastOwner }, claims, connection);
  if (renewed === role) return userId;
  await stores.people.setMembership(orgId, userId, renewed, now);
  await notifyOfLoweredRole({ stores, now, enqueue }, orgId, { userId, before: role, after: renewed });
  const after = { role: renewed, by: 'provider' };
  record({ userId, orgId, action: 'change_role', target: userId, before: { role }, after });
  return userId;
}
