import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { AccessName } from '#modules/apps/operations/fields.ts';
import { pageInput, pageOf, parseTimeCursor, searchInput, timeCursorOf } from '#actions/list_page.ts';
import { visibleOwner } from '#modules/organizations/visible_owner.ts';
import { IdText, nullable, STRICT, Timestamp } from '#actions/fields.ts';
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

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listConnections = defineAction({
  name: 'list_connections',
  consoleOnly: true,
  summary:
    'Find the apps that you have connected, or those of everybody for owners and admins, page by page; newest first.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name of the app or of the person'),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
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
