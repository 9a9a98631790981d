import { Type } from 'typebox';

import { readSignedIn, SignedInView } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const getSession = defineAction({
  name: 'get_session',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'GET /session',
  summary: 'Show who is signed in, and their role in each organization.',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: SignedInView,
  example: {},
  handle: (_input, { stores, session }) => readSignedIn(stores, session),
});
