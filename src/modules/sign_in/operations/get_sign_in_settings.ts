import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { readSignInSettings, SignInSettingsView } from '#modules/sign_in/sign_in_view.ts';

export const getSignInSettings = defineAction({
  name: 'get_sign_in_settings',
  consoleOnly: true,
  summary: 'Show how people sign in to the organization: its provider, its mail domains, and the networks it admits.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: SignInSettingsView,
  example: {},
  handle: (_input, { caller, stores, baseUrl }) => readSignInSettings(stores, caller.orgId, baseUrl),
});
