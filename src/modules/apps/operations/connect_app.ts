import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { AccessName, Redirect, RequestUid } from '#modules/apps/operations/fields.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { memberCallerOf } from '#auth/sessions.ts';
import { invalidInput } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';

export const connectApp = defineAction({
  name: 'connect_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /connect/:uid',
  summary: 'Connect the app that asked to one organization, for reading only or for changes as well.',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ uid: RequestUid, orgId: IdText, access: AccessName }, STRICT),
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
