import type { FastifyInstance } from 'fastify';

import { networkOf } from '#kernel/ip_address.ts';
import { countAttempt } from '#auth/sign_in_limiter.ts';
import type { AppContext } from '#entry/compose.ts';
import { ANONYMOUS_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { parseRawBodies, rawBodyOf } from '#entry/http/request_body.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { endProviderSessions } from '#modules/sign_in/end_provider_sessions.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';

const WINDOW_SECONDS = 15 * 60;

/** Mounts the address to which a provider reports that a person has signed out there (back-channel logout). */
export async function mountProviderLogout(app: FastifyInstance, context: AppContext): Promise<void> {
  await app.register(async (scope) => {
    parseRawBodies(scope);
    scope.post<{ Params: { orgId: string } }>(
      `${API_PATHS.console}/sign-in/:orgId/logout`,
      { bodyLimit: ANONYMOUS_BODY_BYTES_MAX },
      async (request, reply) => {
        const token = new URLSearchParams(rawBodyOf(request).toString('utf8')).get('logout_token') ?? '';
        const origin = { requestId: request.id, address: request.ip };
        await endReported(context, request.params.orgId, { token, origin });
        return reply.code(200).header('cache-control', 'no-store').send();
      },
    );
  });
}

/** Ends what a verified token names. Tries that fail are counted by their network, for each asks the provider for keys. */
async function endReported(
  context: AppContext,
  org: string,
  { token, origin }: { readonly token: string; readonly origin: { requestId: string; address: string } },
): Promise<void> {
  const { openId, limits } = context.actions.installation;
  const stores = storesOf(context.db.session());
  const orgId = asId('org', org);
  const connection = org.includes('\0') ? null : await stores.openId.findConnection(orgId);
  if (connection?.isEnabled !== true) throw new AppError('not_found', 'there is no such provider');
  const key = `provider_logout:${networkOf(origin.address)}`;
  const max = limits.signInsOfAddressMax;
  await countAttempt(stores, context.clock, { key, limit: 'signInsOfAddressMax', max, windowSeconds: WINDOW_SECONDS });
  const logout = await openId.readLogout(connection, token).catch((error: unknown) => {
    if (!(error instanceof ProviderSignInError)) throw error;
    context.log.info({ orgId, err: messageOf(error.cause ?? error) }, 'a logout token was refused');
    throw new AppError(
      'invalid_input',
      'this logout token is not taken: it is not of the provider, not for here, or late',
    );
  });
  const report = { orgId, issuer: connection.issuer, ...logout };
  await inUnitOfWork(context.actions, (unit) => endProviderSessions(unit, report, origin));
  await stores.signInLimits.undoAttempt(key);
}
