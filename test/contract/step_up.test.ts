import { expect, test } from 'vitest';

import { ACCOUNT_OPERATIONS, ACTIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';

/** Operations that give somebody a credential or a role, or decide how people prove who they are. */
const KEYS_AND_ROLES = [
  'create_api_key',
  'rotate_ingest_key',
  'connect_app',
  'set_responder',
  'set_agent_limits',
  'change_role',
  'create_invitation',
  'remove_member',
  'set_second_factor_policy',
  'begin_passkey',
  'add_passkey',
  'remove_passkey',
  'begin_authenticator_app',
  'confirm_authenticator_app',
  'remove_authenticator_app',
  'replace_recovery_codes',
];

/** Deletions that nothing must hinder, because they take access away, and those of what is one's own, ends by itself or is undone. */
const WITHOUT = [
  'delete_exception_comment',
  'delete_holiday_calendar',
  'delete_incident_note',
  'delete_maintenance',
  'delete_push_subscription',
  'delete_saved_search',
  'delete_schedule_override',
  'disconnect_app',
  'end_other_sessions',
  'end_session',
  'remove_team_member',
  'retract_publication',
  'revoke_api_key',
  'revoke_calendar_feed',
  'revoke_invitation',
  'revoke_own_calendar',
  'revoke_provisioning_token',
  'sign_out',
  'undo_shift_swap',
  'unlink_chat_account',
];

test('keys, roles and deletion ask people for their second factor again, whichever operation it is', () => {
  const all = [...ACTIONS, ...CONSOLE_OPERATIONS, ...ACCOUNT_OPERATIONS];
  const asking = all.filter(({ stepUp }) => stepUp === true).map(({ name }) => name);
  expect(asking).toEqual(expect.arrayContaining(KEYS_AND_ROLES));
  const deleting = all.filter(({ effect }) => effect === 'delete').map(({ name }) => name);
  expect(deleting.filter((name) => !asking.includes(name)).toSorted()).toEqual(WITHOUT);
});

test('keys of services are in the results of four operations, of which three mask them and one is recorded', () => {
  const naming = [...ACTIONS, ...CONSOLE_OPERATIONS, ...ACCOUNT_OPERATIONS].filter(({ result }) =>
    /"(ingestionKey|dsn|dsnKey)":/.test(JSON.stringify(result)),
  );
  expect(naming.map(({ name }) => name).toSorted()).toEqual([
    'create_service',
    'get_service',
    'reveal_ingest_key',
    'rotate_ingest_key',
  ]);
  const masking = naming.filter(({ result }) => JSON.stringify(result).includes('"credentials":'));
  expect(masking.map(({ name }) => name).toSorted()).toEqual(['create_service', 'get_service', 'rotate_ingest_key']);
});
