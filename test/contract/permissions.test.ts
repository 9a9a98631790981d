import { afterAll, beforeAll, expect, test } from 'vitest';

import { PERMISSIONS, type Permission, ROLES, type Role } from '#kernel/permissions.ts';
import { ask, callsMade } from '#test/contract/ask.ts';
import { EACH_ACTION } from '#test/contract/fixture.ts';
import { fileWorld } from '#test/kit/world.ts';

/** The permissions of each role, written out independently of the code. */
const ALLOWED: Record<Role, (permission: Permission) => boolean> = {
  owner: () => true,
  admin: () => true,
  editor: (permission) => permission !== 'services:delete',
  responder: (permission) => permission.endsWith(':view') || permission === 'oncall:edit',
  viewer: (permission) => permission.endsWith(':view'),
};

interface Holder {
  readonly who: string;
  readonly key: string;
  readonly actor: object;
  readonly may: (permission: Permission) => boolean;
}

const holders: Holder[] = [];
const w = await fileWorld();
beforeAll(async () => {
  const hold = (who: string, key: string, actor: object, may: Holder['may']) => holders.push({ who, key, actor, may });
  for (const role of ROLES) {
    const { key, userId } = await w.given.user({ role });
    hold(role, key, { kind: 'user', userId }, ALLOWED[role]);
    const narrowed = await w.given.apiKey({ userId, permissions: ['oncall:edit', 'services:view'] });
    const isListed = (permission: Permission) => ['oncall:edit', 'services:view'].includes(permission);
    hold(`${role}, narrowed`, narrowed, { userId }, (permission) => isListed(permission) && ALLOWED[role](permission));
  }
  for (const permission of PERMISSIONS) {
    const key = await w.given.apiKey({ permissions: [permission] });
    hold(`a key for ${permission} alone`, key, { kind: 'api_key' }, (asked) => asked === permission);
  }
  hold('a key for nothing', await w.given.apiKey({ permissions: [] }), { kind: 'api_key' }, () => false);
});
afterAll(() => console.log(`${callsMade()} calls were allowed or refused by permission`));

test.each(EACH_ACTION)(
  '%s is open to those who hold its permission, and refusals are told and audited',
  async (name, action) => {
    for (const { who, key, actor, may } of holders) {
      // A body that is no object: callers with the permission get 400, and nothing changes.
      const answer = await ask(w, name, { key, body: [] });
      expect(answer.status, `${who}: ${answer.text}`).toBe(may(action.permission) ? 400 : 403);
      if (answer.status === 400) continue;
      expect(answer.body).toMatchObject({
        code: 'forbidden',
        detail: `${name} needs the permission ${action.permission}, which this key does not have`,
      });
      const refused = { action: name, via: 'rest', result: 'forbidden', target: null, before: null, after: null };
      expect(await auditOf(answer.body.requestId), who).toMatchObject(
        action.effect === 'read' ? [] : [{ ...refused, address: '127.0.0.1', actor }],
      );
    }
  },
);

async function auditOf(requestId: string): Promise<unknown[]> {
  return await w.context.db.sql.rows(
    'select action, via, result, target, before, after, address, actor from audit_log where request_id = $1',
    [requestId],
  );
}
