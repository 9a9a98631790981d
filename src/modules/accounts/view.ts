import { type Static, Type } from 'typebox';

import { IdText } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { PERMISSIONS, ROLE_PERMISSIONS, ROLES } from '#kernel/permissions.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';
import type { Stores } from '#modules/stores.ts';

export const RoleName = Type.Enum([...ROLES]);

/** Number of the colour in which the console shows somebody. */
export const PersonColorNumber = Type.Integer({ minimum: 0, description: 'number of the colour of the person' });

export const SignedInView = Type.Object({
  user: Type.Object({ userId: IdText, email: Type.String(), name: Type.String(), hasSecondFactor: Type.Boolean() }),
  organizations: Type.Array(
    Type.Object({
      orgId: IdText,
      name: Type.String(),
      role: RoleName,
      color: PersonColorNumber,
      secondFactorRequired: Type.Boolean({ description: 'whether owners and admins need a second factor here' }),
      traceLink: Type.Union([Type.String(), Type.Null()], {
        description: 'where people look at traces, with {traceId} in it; null where nobody has said',
      }),
      showsPrices: Type.Boolean({ description: 'whether the console shows what capabilities cost' }),
      permissions: Type.Array(Type.Enum([...PERMISSIONS])),
    }),
    { description: 'by name' },
  ),
  sessionId: IdText,
});

export async function readSignedIn(
  stores: Pick<Stores, 'people' | 'secondFactors'>,
  { userId, sessionId, providerOrgId }: Pick<SessionOfPerson, 'userId' | 'sessionId' | 'providerOrgId'>,
): Promise<Static<typeof SignedInView>> {
  const user = await stores.people.findUser(userId);
  if (user === null) throw new Error(`the session ${sessionId} has no user`);
  const { passkeys, hasApp } = await stores.secondFactors.summaryOf(userId);
  const memberships = (await stores.people.listMemberships(userId)).filter(
    ({ orgId }) => providerOrgId === null || orgId === providerOrgId,
  );
  return {
    user: { userId: user.id, email: user.email, name: user.name, hasSecondFactor: passkeys > 0 || hasApp },
    organizations: memberships.map((membership) => {
      return { ...membership, permissions: [...ROLE_PERMISSIONS[membership.role]] };
    }),
    sessionId,
  };
}

export const EmailField = Type.String({
  pattern: '^[^\\s@]+@[^\\s@]+$',
  maxLength: 320,
  description: 'a mail address',
});

/** A password to check, of any length. */
export const PasswordField = Type.String({ minLength: 1, maxLength: 1024 });

export const PersonName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'a name that is not blank',
});

export const EndsField = Type.Optional(Type.Boolean({ description: 'true when left out' }));

export const LinkToken = Type.String({ description: 'the last part of the link' });

/** Returns the person who acts; throws `forbidden` for a key of the organization, which is nobody. */
export function callerUser({ actor }: Caller): Id<'user'> {
  if (actor.kind === 'user') return actor.userId;
  throw new AppError(
    'forbidden',
    'only a person can do this; an API key of the organization does not belong to a person',
  );
}
