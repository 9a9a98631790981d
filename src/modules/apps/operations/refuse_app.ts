import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { Redirect, RequestUid } from '#modules/apps/operations/fields.ts';
import { STRICT } from '#actions/fields.ts';

export const refuseApp = defineAction({
  name: 'refuse_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /connect/:uid/refusal',
  summary: 'Refuse the app that asks to be connected.',
  effect: 'write',
  input: Type.Object({ uid: RequestUid }, STRICT),
  result: Redirect,
  refusals: ['not_found'],
  example: { uid: 'c0ffee' },
  prepare: async ({ uid }, { browser }) => await (await browser.getConnectRequest(uid)).refuse(),
  handle: async (_input, _context, redirectTo) => ({ redirectTo }),
});
