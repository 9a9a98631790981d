import { Type } from 'typebox';

import { RoleName } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { AccessName, RequestUid } from '#modules/apps/operations/fields.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';

const ConsentView = Type.Object({
  client: Type.Object(
    {
      name: Type.String(),
      uri: nullable(Type.String()),
      logoUri: Type.Null(),
      redirectHost: Type.String({ description: 'where the browser goes afterwards: a host, or the scheme of an app' }),
      kind: Type.Enum(['registered', 'metadata_document'], {
        description: '`metadata_document`: the owner of the host of its address vouches for its content',
      }),
    },
    { description: 'what the app says of itself' },
  ),
  organizations: Type.Array(Type.Object({ orgId: IdText, name: Type.String(), role: RoleName })),
  access: AccessName,
  canChange: Type.Boolean({ description: 'whether the app asks to change things, too' }),
});

export const getConnectRequest = defineAction({
  name: 'get_connect_request',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'GET /connect/:uid',
  summary:
    'Show which app asks to be connected, where it redirects to, and for which organizations you may connect it.',
  effect: 'read',
  input: Type.Object({ uid: RequestUid }, STRICT),
  result: ConsentView,
  refusals: ['not_found'],
  example: { uid: 'c0ffee' },
  async handle({ uid }, { browser, stores, session }) {
    const { client, canChange } = await browser.getConnectRequest(uid);
    const { userId, providerOrgId } = session;
    const memberships = (await stores.people.listMemberships(userId)).filter(
      ({ orgId }) => providerOrgId === null || orgId === providerOrgId,
    );
    const organizations = memberships.map(({ orgId, name, role }) => ({ orgId, name, role }));
    return { client: { ...client, logoUri: null }, organizations, access: 'read_only' as const, canChange };
  },
});
