import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { AccessName } from '#actions/apps/fields.ts';
import { visibleOwner } from '#actions/people/visible_owner.ts';
import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const ConnectionView = Type.Object({
  connectionId: IdText,
  clientName: Type.String({ description: 'what the app calls itself' }),
  clientUri: nullable(Type.String()),
  user: Type.Object({ userId: IdText, name: Type.String() }),
  access: AccessName,
  createdAt: Timestamp,
  lastUsedAt: nullable(Timestamp),
});

export const listConnections = defineAction({
  name: 'list_connections',
  consoleOnly: true,
  summary: 'List the apps that you have connected; those of everybody for owners and admins. Newest first.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ connections: Type.Array(ConnectionView) }),
  example: {},
  async handle(_input, { caller, stores }) {
    const connections = await stores.connections.list(caller.orgId, visibleOwner(caller));
    return {
      connections: connections.map((connection) => ({
        connectionId: connection.connectionId,
        clientName: connection.clientName,
        clientUri: connection.clientUri,
        user: { userId: connection.userId, name: connection.userName },
        access: connection.access,
        createdAt: toTimestamp(connection.createdAt),
        lastUsedAt: toTimestampOrNull(connection.lastUsedAt),
      })),
    };
  },
});
