import { Type } from 'typebox';

import { RoleName } from '#actions/account/view.ts';
import { CLOSED, IdText, nullable } from '#actions/fields.ts';
import type { ConnectRequest } from '#auth/oauth/connect_request.ts';
import { AccessName } from '#entry/http/console/connections.ts';
import { type ConsoleCall, consoleRoute } from '#entry/http/console/route.ts';
import { invalidInput } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const ConsentView = Type.Object({
  client: Type.Object(
    {
      name: Type.String(),
      uri: nullable(Type.String()),
      logoUri: Type.Null(),
      redirectHost: Type.String({ description: 'where the browser goes afterwards: a host, or the scheme of an app' }),
      kind: Type.Enum(['registered', 'metadata_document'], {
        description: '`metadata_document`: whoever owns the host of its address vouches for what it says',
      }),
    },
    { description: 'what the app says of itself' },
  ),
  organizations: Type.Array(Type.Object({ orgId: IdText, name: Type.String(), role: RoleName })),
  access: AccessName,
  canChange: Type.Boolean({ description: 'whether the app asks to change things, too' }),
});

const Redirect = Type.Object({ redirectTo: Type.String({ description: 'where the browser has to go now' }) });

/** The request that this browser is asked about. Throws `not_found`. */
async function requestOf({ house, params, request, reply }: ConsoleCall<'signed_in'>): Promise<ConnectRequest> {
  const server = house.authorizationServer();
  return await server.getConnectRequest(params['uid'] ?? '', request.raw, reply.raw);
}

export const CONNECT_ROUTES = [
  consoleRoute({
    name: 'get_connect_request',
    method: 'GET',
    path: '/connect/:uid',
    tag: 'Connected apps',
    summary: 'Tell which app asks to be connected, where it leads back to, and for which organizations you may do so.',
    access: 'signed_in',
    result: ConsentView,
    refusals: ['not_found'],
    async handle(call) {
      const { client, canChange } = await requestOf(call);
      const memberships = await storesOf(call.house.db.session()).people.listMemberships(call.session.userId);
      const organizations = memberships.map(({ orgId, name, role }) => ({ orgId, name, role }));
      return { client: { ...client, logoUri: null }, organizations, access: 'read_only' as const, canChange };
    },
  }),
  consoleRoute({
    name: 'connect_app',
    method: 'POST',
    path: '/connect/:uid',
    tag: 'Connected apps',
    summary: 'Connect the app that asks to one organization, to look only or to change things, too.',
    access: 'signed_in',
    body: Type.Object({ orgId: IdText, access: AccessName }, CLOSED),
    result: Redirect,
    refusals: ['not_found'],
    async handle(call) {
      const { session, body, origin } = call;
      const { userId } = session;
      const asked = await requestOf(call);
      if (body.access === 'changes' && !asked.canChange) {
        throw invalidInput([{ path: 'access', message: 'the app asks to look only; send read_only' }]);
      }
      const approval = { userId, orgId: asId('org', body.orgId), access: body.access, origin };
      return { redirectTo: await asked.approve(approval) };
    },
  }),
  consoleRoute({
    name: 'refuse_app',
    method: 'POST',
    path: '/connect/:uid/refusal',
    tag: 'Connected apps',
    summary: 'Refuse the app that asks to be connected.',
    access: 'signed_in',
    body: Type.Object({}, CLOSED),
    result: Redirect,
    refusals: ['not_found'],
    handle: async (call) => ({ redirectTo: await (await requestOf(call)).refuse() }),
  }),
];
