import { Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { recordEnd } from '#auth/oauth/connections.ts';
import type { MemberCaller } from '#auth/sessions.ts';
import { isManager } from '#auth/sessions.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { notFound } from '#kernel/errors.ts';
import { type Id, asId } from '#kernel/ids.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const AccessName = Type.Enum(['read_only', 'changes'], {
  description: '`read_only`: to look. `changes`: whatever the role of the person allows, at each moment',
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

/** Whose connections somebody may see and end: everybody's (null) who manages the organization, else their own. */
function reachOf(caller: MemberCaller): Id<'user'> | null {
  return isManager(caller) ? null : caller.actor.userId;
}

export const CONNECTION_ROUTES = [
  consoleRoute({
    name: 'list_connections',
    method: 'GET',
    path: '/organizations/:org/connections',
    tag: 'Connected apps',
    summary: 'List the apps that you have connected; those of everybody for owners and admins. Newest first.',
    access: 'member',
    result: Type.Object({ connections: Type.Array(ConnectionView) }),
    async handle({ house, caller }) {
      const connections = await storesOf(house.db.session()).connections.list(caller.orgId, reachOf(caller));
      return {
        connections: connections.map(({ userId, userName, createdAt, lastUsedAt, ...connection }) => ({
          connectionId: connection.connectionId,
          clientName: connection.clientName,
          clientUri: connection.clientUri,
          user: { userId, name: userName },
          access: connection.access,
          createdAt: toTimestamp(createdAt),
          lastUsedAt: toTimestampOrNull(lastUsedAt),
        })),
      };
    },
  }),
  consoleRoute({
    name: 'disconnect_app',
    method: 'DELETE',
    path: '/organizations/:org/connections/:connectionId',
    tag: 'Connected apps',
    summary: 'Disconnect an app: its very next request is refused, and it can obtain no new token.',
    access: 'member',
    result: Type.Object({ deleted: Type.Literal(true), connectionId: IdText }),
    refusals: ['not_found'],
    handle: ({ house, caller, params, origin }) =>
      inUnitOfWork(house.actions, async ({ stores, now }, session) => {
        const { orgId, actor, via } = caller;
        const connectionId = asId('connection', params['connectionId'] ?? '');
        const removed = await stores.connections.removeOf(orgId, reachOf(caller), connectionId);
        if (removed === null) throw notFound('connectionId', 'connection');
        await recordEnd(session, removed, { actor, via, origin, after: null }, now);
        return { deleted: true as const, connectionId };
      }),
  }),
];
