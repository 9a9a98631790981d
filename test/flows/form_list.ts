import type { OpenablePage, SampleIds } from '#test/browser/sample_pages.ts';

/** A form of the console: how to come to it, what it lacks when it is sent as it is, and what the server may refuse. */
export interface FormOfConsole {
  readonly name: string;
  readonly opening: OpenablePage;
  /** The card that holds it, where it is no dialog. */
  readonly region?: string;
  /** Emptied before it is sent incomplete. */
  readonly clear?: readonly string[];
  /** What it then says is missing, in the order of its fields; none where it cannot be incomplete. */
  readonly missing?: readonly string[];
  /** Makes it complete: texts by label, and choices from lists that are searched. */
  readonly fill?: Readonly<Record<string, string>>;
  readonly pick?: Readonly<Record<string, string>>;
  readonly send: string;
  /** The end of the path that it is sent to. */
  readonly to: string;
  /** The fields that the server refuses, by its own names for them, in the order of the form. */
  readonly refused: Readonly<Record<string, string>>;
}

const CONTACT = { phone: 'Phone' } as const;
const FACTS = {
  name: 'Name',
  environment: 'Environment',
  scmOwner: 'Repository owner',
  scmRepo: 'Repository',
} as const;

/** Of people who are not logged in. */
export const outsideForms = (invitationPath: string): readonly FormOfConsole[] => [
  {
    name: 'sign-in',
    opening: ['login'],
    missing: ['Mail address', 'Password'],
    fill: { 'Mail address': 'anna@example.com', Password: 'amber kettle 41 orbit' },
    send: 'Log in',
    to: '/session',
    refused: { email: 'Mail address', password: 'Password' },
  },
  {
    name: 'invitation',
    opening: [invitationPath],
    missing: ['Your name', 'Choose a password'],
    fill: { 'Your name': 'Dirk', 'Choose a password': 'quiet harbour 7 lantern' },
    send: 'Join',
    to: `/${invitationPath.replace('invitation/', 'invitations/')}`,
    refused: { name: 'Your name', password: 'Choose a password' },
  },
  {
    name: 'request of a new password',
    opening: ['reset'],
    missing: ['Mail address'],
    fill: { 'Mail address': 'anna@example.com' },
    send: 'Send the link',
    to: '/password-resets',
    refused: { email: 'Mail address' },
  },
];

export const accountForms: readonly FormOfConsole[] = [
  {
    name: 'passkey',
    opening: ['me', 'Add a passkey'],
    missing: ['Name'],
    fill: { Name: 'This laptop' },
    send: 'Add',
    to: '/me/passkeys',
    refused: { name: 'Name' },
  },
  {
    name: 'authenticator app',
    opening: ['me', 'Set up an authenticator app'],
    missing: ['Code'],
    fill: { Code: '123456' },
    send: 'Set up',
    to: '/me/authenticator-app/confirmation',
    refused: { code: 'Code' },
  },
  {
    name: 'own name',
    opening: ['me'],
    region: 'Account',
    clear: ['Name'],
    missing: ['Name'],
    fill: { Name: 'Nova' },
    send: 'Save',
    to: '/me',
    refused: { name: 'Name' },
  },
  {
    name: 'password',
    opening: ['me', 'Change your password'],
    missing: ['Current password', 'New password'],
    fill: { 'Current password': 'something else', 'New password': 'quiet harbour 7 lantern' },
    send: 'Change',
    to: '/me/password',
    refused: { currentPassword: 'Current password', newPassword: 'New password' },
  },
  {
    name: 'own contact',
    opening: ['me'],
    region: 'Your phone',
    fill: { Phone: '+31612345678' },
    send: 'Save',
    to: '/update_own_contact',
    refused: CONTACT,
  },
  {
    name: 'PIN of replies',
    opening: ['me'],
    region: 'Your replies',
    missing: ['PIN'],
    fill: { PIN: '1234' },
    send: 'Set a PIN',
    to: '/set_reply_pin',
    refused: { pin: 'PIN' },
  },
];

export const responseForms = ({ incidentId, teamId, policyId, scheduleId }: SampleIds): readonly FormOfConsole[] => [
  {
    name: 'declared incident',
    opening: ['incidents', 'Declare an incident'],
    missing: ['What is wrong', 'Service', 'Who is paged'],
    fill: { 'What is wrong': 'Cards fail' },
    pick: { Service: 'checkout', 'Who is paged': 'Nobody' },
    send: 'Declare',
    to: '/declare_incident',
    refused: { title: 'What is wrong', serviceId: 'Service', escalationPolicyId: 'Who is paged' },
  },
  {
    name: 'reassignment',
    opening: [`incidents/${incidentId}`, 'Reassign'],
    missing: ['Person'],
    pick: { Person: 'Bram' },
    send: 'Reassign and page',
    to: '/reassign_incident',
    refused: { 'to.userId': 'Person' },
  },
  {
    name: 'new schedule',
    opening: ['oncall/schedules/new'],
    missing: ['Name', 'Add a person'],
    fill: { Name: 'Third' },
    pick: { 'Add a person': 'Bram' },
    send: 'Create',
    to: '/create_schedule',
    refused: {
      name: 'Name',
      teamId: 'Team',
      'rotationConfig.userIds[0]': 'Add a person',
      startAt: 'First turn begins',
    },
  },
  {
    name: 'schedule',
    opening: [`oncall/schedules/${scheduleId}/edit`],
    clear: ['Name'],
    missing: ['Name'],
    fill: { Name: 'Primary' },
    send: 'Save',
    to: '/change_schedule',
    refused: { name: 'Name', 'handOver.at': 'Next hand-over' },
  },
  {
    name: 'new team',
    opening: ['oncall/teams', 'Create a team'],
    missing: ['Name'],
    fill: { Name: 'Refunds' },
    send: 'Create',
    to: '/create_team',
    refused: { name: 'Name' },
  },
  {
    name: 'name of a team',
    opening: [`oncall/teams/${teamId}`, 'Rename'],
    clear: ['Name'],
    missing: ['Name'],
    fill: { Name: 'Refunds' },
    send: 'Save',
    to: '/rename_team',
    refused: { name: 'Name' },
  },
  {
    name: 'new member',
    opening: [`oncall/teams/${teamId}`, 'Add a member'],
    missing: ['Person'],
    pick: { Person: 'Cleo' },
    send: 'Add',
    to: '/add_team_member',
    refused: { userId: 'Person', ...CONTACT },
  },
  {
    name: 'person without a team',
    opening: ['oncall/teams', /^Add to a team: /],
    missing: ['Team'],
    pick: { Team: 'Platform' },
    send: 'Add',
    to: '/add_team_member',
    refused: { teamId: 'Team', ...CONTACT },
  },
  {
    name: 'contact of a member',
    opening: [`oncall/teams/${teamId}`, /^Change /, 'Edit contact'],
    send: 'Save',
    to: '/edit_team_member',
    refused: CONTACT,
  },
  {
    name: 'new policy',
    opening: ['oncall/policies/new'],
    missing: ['Name'],
    fill: { Name: 'Calm' },
    send: 'Create',
    to: '/create_escalation_policy',
    refused: { name: 'Name', 'steps[0].afterMinutes': 'Minutes after the trigger', 'steps[0].channels': 'By' },
  },
  {
    name: 'policy',
    opening: [`oncall/policies/${policyId}/edit`],
    clear: ['Name'],
    missing: ['Name'],
    fill: { Name: 'Wake somebody' },
    send: 'Save',
    to: '/replace_escalation_policy',
    refused: { name: 'Name', 'steps[0].targetUserIds': 'Page' },
  },
];

export const dataForms = ({ serviceId, groupId }: SampleIds): readonly FormOfConsole[] => [
  {
    name: 'new service',
    opening: ['services', 'Create a service'],
    missing: ['Name'],
    fill: { Name: 'till' },
    send: 'Create',
    to: '/create_service',
    refused: FACTS,
  },
  {
    name: 'service',
    opening: [`services/${serviceId}`, 'Edit'],
    clear: ['Name'],
    missing: ['Name'],
    fill: { Name: 'checkout' },
    send: 'Save',
    to: '/edit_service',
    refused: FACTS,
  },
  {
    name: 'noise and secrets',
    opening: [`services/${serviceId}`, 'Edit noise and secrets'],
    fill: { 'Own patterns': '***' },
    send: 'Save',
    to: '/set_exception_settings',
    refused: { filters: 'Leave out exceptions of', 'patterns[0]': 'Own patterns', 'secretNames[0]': 'Secret fields' },
  },
  {
    name: 'deploy',
    opening: [`services/${serviceId}`, 'Record a deploy'],
    clear: ['Release *', 'Environment *'],
    missing: ['Release *', 'Environment *'],
    fill: { 'Release *': 'v12', 'Environment *': 'production' },
    send: 'Record',
    to: '/record_deploy',
    refused: { release: 'Release *', environment: 'Environment *' },
  },
  {
    name: 'retention',
    opening: [`services/${serviceId}`, 'Change how long Exceptions are kept'],
    clear: ['Days'],
    missing: ['Days'],
    fill: { Days: '7' },
    send: 'Save',
    to: '/edit_retention',
    refused: { retentionDays: 'Days' },
  },
  {
    name: 'release with the fix',
    opening: [`exceptions/${groupId}`, 'Fixed in a release', 'Fixed in a release …'],
    missing: ['First release with the fix *'],
    fill: { 'First release with the fix *': 'v13' },
    send: 'Resolve',
    to: '/resolve_in_release',
    refused: { release: 'First release with the fix *' },
  },
  {
    name: 'merge',
    opening: [`exceptions/${groupId}`, 'Merge into …'],
    missing: ['Merge into'],
    pick: { 'Merge into': '' },
    send: 'Merge',
    to: '/merge_exception_groups',
    refused: { intoGroupId: 'Merge into' },
  },
  {
    name: 'new dashboard',
    opening: ['dashboards', 'Create a dashboard'],
    missing: ['Name'],
    fill: { Name: 'Night' },
    send: 'Create',
    to: '/create_dashboard',
    refused: { name: 'Name', serviceId: 'Service' },
  },
  {
    name: 'name of a dashboard',
    opening: ['dashboards', /^What to do with /, 'Rename'],
    clear: ['Name'],
    missing: ['Name'],
    fill: { Name: 'Night' },
    send: 'Rename',
    to: '/save_dashboard',
    refused: { name: 'Name' },
  },
  {
    name: 'widget of a metric',
    opening: [`explore?service=${serviceId}&metric=latency`, 'Add to a dashboard'],
    clear: ['Title of the widget'],
    missing: ['Dashboard', 'Title of the widget'],
    fill: { 'Name of the dashboard': 'Night', 'Title of the widget': 'Latency' },
    pick: { Dashboard: 'A new dashboard' },
    send: 'Add',
    to: '/create_dashboard',
    refused: { name: 'Name of the dashboard' },
  },
  {
    name: 'new rule',
    opening: [`rules/new?service=${serviceId}&metric=latency`],
    missing: ['Name', 'Threshold'],
    fill: { Name: 'Slow', Threshold: '100' },
    send: 'Create',
    to: '/add_alert_rule',
    refused: { name: 'Name', serviceId: 'Service', escalationPolicyId: 'Pages by' },
  },
  {
    name: 'maintenance',
    opening: ['rules', 'Maintenance', 'New maintenance'],
    missing: ['What for', 'Service', 'Until'],
    fill: { 'What for': 'Database upgrade', Until: '2100-01-01T00:00' },
    pick: { Service: 'checkout' },
    send: 'Create',
    to: '/create_maintenance',
    refused: { name: 'What for', 'target.serviceId': 'Service', endsAt: 'Until' },
  },
];

export const settingForms: readonly FormOfConsole[] = [
  {
    name: 'invited person',
    opening: ['settings/members', 'Invite somebody'],
    missing: ['Mail address'],
    fill: { 'Mail address': 'emma@example.com' },
    send: 'Invite',
    to: '/create_invitation',
    refused: { email: 'Mail address', role: 'Role' },
  },
  {
    name: 'API key',
    opening: ['settings/api-keys', 'Create a key'],
    missing: ['Name'],
    fill: { Name: 'CI' },
    send: 'Create',
    to: '/create_api_key',
    refused: { name: 'Name', expiresAt: 'Last day' },
  },
  {
    name: 'limits of agents',
    opening: ['settings/agents'],
    region: 'Limits',
    fill: { 'Changes of one agent within an hour': '31' },
    send: 'Save limits',
    to: '/set_agent_limits',
    refused: {
      writesAnHour: 'Changes of one agent within an hour',
      holdMinutes: 'Minutes that a lease may hold the first step',
    },
  },
  {
    name: 'address of a trace',
    opening: ['settings/integrations'],
    region: 'Traces',
    fill: { 'Address of a trace': 'https://traces.example.com/{traceId}' },
    send: 'Save',
    to: '/set_trace_link',
    refused: { traceLink: 'Address of a trace' },
  },
  {
    name: 'name of the organization',
    opening: ['settings/members'],
    region: 'Organization',
    clear: ['Name of the organization'],
    missing: ['Name of the organization'],
    fill: { 'Name of the organization': 'Northwind' },
    send: 'Rename',
    to: '/rename_organization',
    refused: { name: 'Name of the organization' },
  },
];
