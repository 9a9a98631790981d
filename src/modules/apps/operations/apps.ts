import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, searchInput, timeCursorOf } from '#actions/list_page.ts';
import { auditedConnection } from '#auth/oauth/connections.ts';
import { memberCallerOf } from '#auth/sessions.ts';
import { invalidInput, notFound } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { RoleName } from '#modules/accounts/view.ts';
import { visibleOwner } from '#modules/organizations/roles.ts';

const AccessName = Type.Enum(['read_only', 'changes'], {
  description: '`read_only`: to look. `changes`: everything that the current role of the person allows',
});

/** Address where the browser goes once a request is answered. */
const Redirect = Type.Object({ redirectTo: Type.String({ description: 'where the browser has to go now' }) });

const RequestUid = Type.String({ description: 'names the request of the app' });

export const connectApp = defineOperation({
  name: 'connect_app',
  scope: 'signed_in',
  route: 'POST /connect/:uid',
  summary: 'Connect the app that asked to one organization, for reading only or for changes as well.',
  effect: 'write',
  stepUp: true,
  input: StrictObject({ uid: RequestUid, orgId: IdText, access: AccessName }),
  result: Redirect,
  refusals: ['not_found'],
  example: { uid: 'c0ffee', orgId: 'org_01k9z7a2b3c4d5e6f7g8h9jkmn', access: 'read_only' },
  /** Stores the answer in the authorization server, with the audit row, in a transaction of its own. */
  async prepare({ uid, orgId, access }, { browser, stores, now, session, origin }) {
    const { userId } = session;
    await memberCallerOf(stores, session, { orgId, address: browser.address }, now);
    const asked = await browser.getConnectRequest(uid);
    if (access === 'changes' && !asked.canChange) {
      throw invalidInput([{ path: 'access', message: 'the app asks for reading only; send read_only' }]);
    }
    return await asked.approve({ userId, orgId: asId('org', orgId), access, origin });
  },
  handle: async (_input, _context, redirectTo) => ({ redirectTo }),
});

export const disconnectApp = defineOperation({
  name: 'disconnect_app',
  summary: 'Disconnect an app: its very next request is refused, and it can obtain no new token.',
  permission: 'organization:view',
  effect: 'delete',
  input: StrictObject({ connectionId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), connectionId: IdText }),
  async handle({ connectionId }, { caller, stores, record }) {
    const id = asId('connection', connectionId);
    const removed = await stores.connections.removeOf(caller.orgId, visibleOwner(caller), id);
    if (removed === null) throw notFound('connectionId', 'connection');
    record({ target: id, before: auditedConnection(removed), after: null });
    return { deleted: true as const, connectionId };
  },
});

export const refuseApp = defineOperation({
  name: 'refuse_app',
  scope: 'signed_in',
  route: 'POST /connect/:uid/refusal',
  summary: 'Refuse the app that asks to be connected.',
  effect: 'write',
  input: StrictObject({ uid: RequestUid }),
  result: Redirect,
  refusals: ['not_found'],
  example: { uid: 'c0ffee' },
  prepare: async ({ uid }, { browser }) => await (await browser.getConnectRequest(uid)).refuse(),
  handle: async (_input, _context, redirectTo) => ({ redirectTo }),
});

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

export const getConnectRequest = defineOperation({
  name: 'get_connect_request',
  scope: 'signed_in',
  route: 'GET /connect/:uid',
  summary:
    'Show which app asks to be connected, where it redirects to, and for which organizations you may connect it.',
  effect: 'read',
  input: StrictObject({ uid: RequestUid }),
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

const ConnectionView = Type.Object({
  connectionId: IdText,
  clientName: Type.String({ description: 'what the app calls itself' }),
  clientUri: nullable(Type.String()),
  user: Type.Object({ userId: IdText, name: Type.String() }),
  access: AccessName,
  createdAt: Timestamp,
  lastUsedAt: nullable(Timestamp),
});

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listConnections = defineOperation({
  name: 'list_connections',
  summary:
    'Find the apps that you have connected, or those of everybody for owners and admins, page by page; newest first.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name of the app or of the person'),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    connections: Type.Array(ConnectionView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: { text: 'claude', cursor: '1767225600000.connection_01k9z8kc3d4e5f6g7h8j9kamnq', limit: 20 },
  async handle({ text, cursor, limit = LIMIT }, { caller, stores }) {
    const wanted = { ofUser: visibleOwner(caller), text: text?.trim() };
    const connections = await stores.connections.list(caller.orgId, wanted, {
      after: cursor === undefined ? null : parseTimeCursor('connection', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(connections, limit, (last) =>
      timeCursorOf({ at: last.createdAt, id: last.connectionId }),
    );
    return {
      connections: shown.map((connection) => ({
        connectionId: connection.connectionId,
        clientName: connection.clientName,
        clientUri: connection.clientUri,
        user: { userId: connection.userId, name: connection.userName },
        access: connection.access,
        createdAt: toTimestamp(connection.createdAt),
        lastUsedAt: toTimestampOrNull(connection.lastUsedAt),
      })),
      total: await stores.connections.count(caller.orgId, wanted),
      nextCursor,
    };
  },
});
