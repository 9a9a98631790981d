import type { ReportedLogout } from '#auth/openid/logout_token.ts';
import { hashSecret } from '#auth/secret_text.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Kind of the records of logouts that were reported, among those of the authorization server, which expire alike. */
const LOGOUT_KIND = 'ProviderLogout';
/** Time for which a token is remembered: longer than one is taken. */
const REMEMBERED_MINUTES = 15;

/** A logout that the provider of an organization has reported in a token that was verified. */
interface ProviderLogout extends ReportedLogout {
  readonly orgId: Id<'org'>;
  readonly issuer: string;
}

/** Ends the sessions that the provider began for a person. Throws `invalid_input` for a token that was used already. */
export async function endProviderSessions(
  { stores, now }: UnitOfWork,
  { orgId, issuer, subject, tokenId }: ProviderLogout,
  origin: RequestOrigin,
): Promise<void> {
  const hash = hashSecret(JSON.stringify([orgId, issuer, tokenId]));
  const expiresAt = now.add({ minutes: REMEMBERED_MINUTES });
  await stores.oauthRecords.put({ kind: LOGOUT_KIND, hash, payload: {}, connectionId: null, expiresAt });
  if (!(await stores.oauthRecords.consume(LOGOUT_KIND, hash, now))) {
    throw new AppError('invalid_input', 'this logout token was used already');
  }
  const linked = await stores.openId.findLinked(orgId, { issuer, subject });
  if (linked === null) return;
  const { userId } = linked;
  await stores.secondFactors.endPendingOf(userId);
  for (const sessionId of await stores.sessions.endOfProvider(orgId, userId)) {
    const change = {
      action: 'end_session',
      target: sessionId,
      before: { userId, live: true },
      after: { by: 'provider' },
    };
    const made = { orgId, actor: { kind: 'system' }, via: 'system', ...change } as const;
    await stores.audit.append({ ...made, result: 'done', origin }, now);
  }
}
