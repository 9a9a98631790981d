import { type Expression, expressionBuilder } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';

import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { ProviderRule } from '#modules/sign_in/decide/provider_rule.ts';
import type { Tables } from '#storage/postgres/tables.ts';

/** Standing of a member in an organization, as far as it decides whether they may act there. */
export interface Standing {
  readonly role: Role;
  /** Whether the organization requires a second factor of owners and admins. */
  readonly secondFactorRequired: boolean;
  readonly hasSecondFactor: boolean;
  /** Networks from which people, or keys, act in the organization; null for everywhere. */
  readonly networks: readonly string[] | null;
  /** Rule for the sign-in of its people; null where no provider is connected and enabled. */
  readonly providerRule: ProviderRule | null;
}

/** Rule of the organization `o` for the sign-in of its people. */
export function providerRuleOf(orgId: Expression<Id<'org'>>) {
  const { selectFrom } = expressionBuilder<Tables>();
  return selectFrom('openid_connections as p')
    .select(({ ref }) =>
      jsonBuildObject({ isRequired: ref('p.is_required'), trustsSecondFactor: ref('p.trusts_second_factor') })
        .$castTo<ProviderRule>()
        .as('providerRule'),
    )
    .where('p.org_id', '=', orgId)
    .where('p.is_enabled', '=', true);
}

/** Whether a user has set up a passkey or an authenticator app; an app counts once it is confirmed. */
export function hasSecondFactor(userId: Expression<Id<'user'> | null>) {
  const { exists, or, selectFrom } = expressionBuilder<Tables>();
  const passkeys = selectFrom('passkeys as p').select('p.id').where('p.user_id', '=', userId);
  const apps = selectFrom('authenticator_apps as a')
    .select('a.user_id')
    .where('a.user_id', '=', userId)
    .where('a.confirmed_at', 'is not', null);
  return or([exists(passkeys), exists(apps)]).$castTo<boolean>();
}
