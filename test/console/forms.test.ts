import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

const PAGES = path.resolve('src/console/pages');

/** Forms that keep no draft, and why. */
const KEEP_NO_DRAFT: Readonly<Record<string, string>> = {
  'exceptions/merge_into.tsx': 'one choice from a list',
  'exceptions/merge_selected.tsx': 'one choice from a list',
  'exceptions/triage/assign_dialog.tsx': 'one choice from a list',
  'explore/label_list.tsx': 'the address holds the selector',
  'explore/metric_list.tsx': 'the address holds the search',
  'incidents/change_severity.tsx': 'one choice from a list',
  'incidents/choose_lead.tsx': 'one choice from a list',
  'me/replies_card.tsx': 'codes and PINs are secret',
  'me/second_factor_card.tsx': 'codes are secret',
  'move_in/begin_card.tsx': 'the key of the other tool is secret',
  'oncall/schedule_page.tsx': 'one name, which is suggested',
  'oncall_teams/add_number.tsx': 'one number, asked for while somebody waits to be paged',
  'oncall/override/put_on_call.tsx': 'the address holds who is put on call, and the times begin now',
  'settings/audit_streams.tsx': 'one address',
  'settings/sign_in/connect_provider.tsx': 'the secret of the client is one',
  'settings/sign_in/domains_card.tsx': 'one domain',
  'settings/sign_in/networks_card.tsx': 'who left a list of networks half written must not find it ready to save',
  'sign_in/accept_invitation.tsx': 'passwords are secret',
  'sign_in/connect.tsx': 'one choice, which is safer made again',
  'sign_in/login.tsx': 'passwords are secret',
  'sign_in/request_password_reset.tsx': 'nobody is logged in whose draft it could be',
  'sign_in/reset_password.tsx': 'passwords are secret',
};

const sources = new Map(
  globSync('**/*.tsx', { cwd: PAGES })
    .sort()
    .map((file) => [file, readFileSync(path.join(PAGES, file), 'utf8')]),
);
const forms = [...sources].filter(([, source]) =>
  /<form\b|\{[^}]*\bForm(?:Dialog)?\b[^}]*\} from '#console\/components\/forms\/form(?:_dialog)?.tsx'/.test(source),
);

test('every form keeps what was entered, or it is said why not', () => {
  const without = forms
    .filter(([, source]) => !/<DraftNotice|<FormDialog[^]*? draft=\{|\{notice\}/.test(source))
    .map(([file]) => file);
  expect(without.sort()).toEqual(Object.keys(KEEP_NO_DRAFT).sort());
});

/** Forms whose fields stand in a component of their own, or cannot hold a wrong value. */
const FAULTS_ELSEWHERE = [
  'exceptions/merge_selected.tsx',
  'explore/label_list.tsx',
  'explore/metric_list.tsx',
  'incidents/change_severity.tsx',
  'oncall_teams/members.tsx',
  'oncall_teams/membership_dialog.tsx',
];

test('every form that keeps a draft tells its frame, which asks otherwise', () => {
  const untold = forms
    .filter(([, source]) => /<DraftNotice|\{notice\}/.test(source) && /<Form\s/.test(source))
    .filter(
      ([, source]) =>
        (source.match(/<Form\s/g)?.length ?? 0) >
        (source.match(/ draft=\{\w+\}\s+(?:className|onSubmit|onKeyDown)/g)?.length ?? 0),
    )
    .map(([file]) => file);
  expect(untold).toEqual([]);
});

test('every form says at its fields what is wrong, before and after it was sent', () => {
  const AT_FIELD = /getInputProps|propsOf|inputOf|\berror=\{(?!(?:\w+\.)?error\})/;
  const silent = forms.filter(([, source]) => !AT_FIELD.test(source)).map(([file]) => file);
  expect(silent).toEqual(FAULTS_ELSEWHERE);
});

test('no form that changes what is stored is sent while somebody else has changed the same', () => {
  const CHANGES = /'(?:update|rename|set|edit|replace|save)_\w+'|\bsaveDashboard\(/;
  const careless = [...sources]
    .filter(([, source]) => /useDraft(?:Form|State)\b/.test(source) && CHANGES.test(source))
    .filter(([, source]) => !/conflicts|<SubmitButtons\b|<FormDialog\b[^]*? draft=/.test(source))
    .map(([file]) => file);
  // Their form, in a file of its own, looks at conflicts.
  expect(careless).toEqual(['policies/edit_policy.tsx', 'rules/edit_rule.tsx']);
});

test('a form that is sent by keys is not sent again while it is under way', () => {
  const twice = forms
    .filter(([, source]) => /requestSubmit|ctrlKey/.test(source))
    .filter(([, source]) => !/!isPending\b|isPending\b[^;\n]*\) return/.test(source))
    .map(([file]) => file);
  expect(twice).toEqual([]);
});
