import type { IncomingMessage } from 'node:http';

import { GOALERT_QUERY } from '#modules/moving_in/ask_tools.ts';
import { objectOf } from '#modules/moving_in/decide/raw.ts';
import type { Respond } from '#test/modules/moving_in/vendor_double.ts';

/** API of a tool in the shapes that it documents, in pages of two where it has pages. */
export interface ToolDouble {
  readonly respond: Respond;
  readonly keyOf: (headers: IncomingMessage['headers']) => string;
  /** Text of the key file for a key. */
  readonly keyText: (key: string) => string;
  /** Number of items read from the double, by kind. */
  readonly read: Readonly<Record<string, number>>;
}

const PAGE = 2;
const NAMES = ['Ada', 'Bo', 'Cy'];
const plain = (key: string): string => key;
const bearer = ({ authorization = '' }: IncomingMessage['headers']): string => authorization.replace('Bearer ', '');

function pageOf<Item>(items: readonly Item[], first: number): { items: readonly Item[]; isMore: boolean } {
  return { items: items.slice(first, first + PAGE), isMore: first + PAGE < items.length };
}

const JIRA_USERS = NAMES.map((name) => ({
  accountId: name.toLowerCase(),
  accountType: 'atlassian',
  displayName: name,
  emailAddress: `${name.toLowerCase()}@example.com`,
}));

const JSM_LISTS: Readonly<Record<string, readonly object[]>> = {
  '/teams': ['t1', 't2', 't3'].map((teamId) => ({ teamId, teamName: `Team ${teamId}` })),
  '/teams/t1/escalations': [
    {
      id: 'esc1',
      name: 'Wake',
      rules: [{ condition: 'if-not-acked', notifyType: 'default', delay: 5, recipient: { type: 'user', id: 'bo' } }],
      repeat: { waitInterval: 10, count: 2 },
    },
  ],
  '/schedules': [{ id: 's1', name: 'Primary', timezone: 'UTC', enabled: true, teamId: 't1' }],
  '/schedules/s1/rotations': [
    {
      id: 'r1',
      name: 'Weeks',
      startDate: '2026-01-05T08:00:00Z',
      type: 'weekly',
      length: 1,
      participants: [
        { type: 'user', id: 'ada' },
        { type: 'user', id: 'bo' },
      ],
    },
  ],
};

const jsm: Respond = (url) => {
  if (url.pathname === '/_edge/tenant_info') return { value: { cloudId: 'cloud-1' } };
  if (url.pathname === '/rest/api/3/users/search')
    return { value: pageOf(JIRA_USERS, Number(url.searchParams.get('startAt'))).items };
  const path = url.pathname.replace('/jsm/ops/api/cloud-1/v1', '');
  const { items, isMore } = pageOf(JSM_LISTS[path] ?? [], Number(url.searchParams.get('offset')));
  if (path.endsWith('/timeline')) return null;
  const links = isMore ? { next: 'https://api.atlassian.com/next' } : {};
  return { value: { [path === '/teams' ? 'platformTeams' : 'values']: items, links } };
};

const splunk: Respond = ({ pathname }) => {
  const users = NAMES.map((name) => ({
    username: name.toLowerCase(),
    firstName: name,
    lastName: 'A',
    email: `${name.toLowerCase()}@example.com`,
  }));
  const policy = { name: 'Primary', slug: 'pol-1' };
  const team = { name: 'Core', slug: 'team-core', memberCount: 3 };
  const rolls = [{ start: '2026-06-01T00:00:00Z', end: '2099-12-01T00:00:00Z', onCallUser: { username: 'ada' } }];
  const steps = [{ timeout: 0, entries: [{ executionType: 'user', user: { username: 'bo' } }] }];
  const answers: Readonly<Record<string, object>> = {
    '/api-public/v2/user': { users },
    '/api-public/v1/user/ada/contact-methods': { phones: { contactMethods: [{ value: '+31612345678' }] } },
    '/api-public/v1/team': [team],
    '/api-public/v1/team/team-core/members': { members: users },
    '/api-public/v2/team/team-core/oncall/schedule': { team, schedules: [{ policy, schedule: [{ rolls }] }] },
    '/api-public/v1/policies': { policies: [{ policy, team: { name: 'Core', slug: 'team-core' } }] },
    '/api-public/v1/policies/pol-1': { ...policy, steps },
  };
  const value = answers[pathname];
  return value === undefined ? null : { value };
};

const betterStack: Respond = (url) => {
  const resource = (id: string, type: string, attributes: object): object => ({ id, type, attributes });
  const members = NAMES.map((name, index) =>
    resource(String(index), 'team_member', { email: `${name}@example.com`, first_name: name, last_name: '' }),
  );
  const steps = [{ type: 'escalation', wait_before: 0, step_members: [{ type: 'current_on_call', id: '77' }] }];
  const lists: Readonly<Record<string, readonly object[]>> = {
    '/api/v2/team-members': members,
    '/api/v2/on-calls': [resource('77', 'on_call_calendar', { name: 'Primary' })],
    '/api/v3/policies': [resource('5', 'policy', { name: 'Policy', steps })],
  };
  if (url.pathname === '/api/v2/on-calls/77/events')
    return {
      value: {
        events: [
          {
            id: 1,
            starts_at: '2026-06-01T00:00:00Z',
            ends_at: '2099-12-01T00:00:00Z',
            users: ['Ada@example.com'],
            override: false,
          },
        ],
      },
    };
  const page = Number(url.searchParams.get('page') ?? 1);
  const { items, isMore } = pageOf(lists[url.pathname] ?? [], (page - 1) * PAGE);
  return { value: { data: items, pagination: { next: isMore ? `${url.pathname}?page=${page + 1}` : null } } };
};

const goAlert: Respond = (url, body) => {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, string> };
  if (query !== GOALERT_QUERY) return { value: { errors: [{ message: 'wrong query for API key' }], data: null } };
  const users = NAMES.map((name) => ({
    id: name.toLowerCase(),
    name,
    email: `${name}@example.com`,
    role: 'user',
    contactMethods: [{ id: `cm-${name}`, type: 'SMS', value: '+31612345678', name: 'Phone' }],
    notificationRules: [],
  }));
  const rotation = {
    id: 'rot',
    name: 'Weeks',
    type: 'weekly',
    shiftLength: 1,
    start: '2026-01-05T08:00:00Z',
    timeZone: 'UTC',
    activeUserIndex: 1,
    userIDs: ['ada', 'bo'],
  };
  const target = { id: 'rot', type: 'rotation', name: 'Weeks' };
  const schedule = { id: 'sched', name: 'Primary', timeZone: 'UTC', targets: [{ target, rules: [] }] };
  const day = { start: '2026-07-01T00:00:00Z', end: '2026-07-02T00:00:00Z' };
  const temporary = { ...day, shifts: [{ ...day, userID: 'cy' }] };
  const steps = [{ delayMinutes: 5, targets: [{ id: 'sched', type: 'schedule', name: 'Primary' }] }];
  const connection = (items: readonly object[], after = ''): object => {
    const { items: nodes, isMore } = pageOf(items, Number(after));
    return { nodes, pageInfo: { endCursor: String(Number(after) + nodes.length), hasNextPage: isMore } };
  };
  const data = {
    users: connection(users, variables['users']),
    rotations: connection([rotation], variables['rotations']),
    schedules: connection([{ ...schedule, temporarySchedules: [temporary] }], variables['schedules']),
    escalationPolicies: connection([{ id: 'pol', name: 'Policy', repeat: 0, steps }], variables['policies']),
    services: connection([{ id: 'svc', name: 'shop', escalationPolicyID: 'pol' }], variables['services']),
    userOverrides: connection([], variables['overrides']),
  };
  return url.pathname === '/api/graphql' && objectOf(data) !== null ? { value: { data } } : null;
};

const sentry: Respond = (url) => {
  const team = { id: '3', slug: 'core', name: 'Core', memberCount: 3 };
  const members = NAMES.map((name, index) => ({
    id: String(10 + index),
    email: `${name}@example.com`,
    orgRole: 'member',
    pending: false,
    user: { id: String(20 + index), name, email: `${name}@example.com` },
  }));
  const projects = ['shop', 'till', 'web'].map((slug, index) => ({
    id: String(7 + index),
    slug,
    name: slug,
    platform: 'node',
    teams: [team],
  }));
  const keyOf = (slug: string): object => {
    const [index, character] = [projects.findIndex((project) => project.slug === slug), slug === 'shop' ? 'a' : 'b'];
    const key = character.repeat(31) + String(index);
    const dsn = { public: `https://${key}@sentry.example.com/${7 + index}` };
    return { id: key, public: key, label: 'Default', isActive: true, projectId: 7 + index, dsn, dateCreated: '2024' };
  };
  const [, , , kind = '', , slug = ''] = url.pathname.split('/');
  const lists: Readonly<Record<string, readonly object[]>> = {
    '/api/0/organizations/': [{ id: '1', slug: 'acme', name: 'Acme', require2FA: false, links: {} }],
    '/api/0/organizations/acme/members/': members,
    '/api/0/organizations/acme/teams/': [team],
    '/api/0/teams/acme/core/members/': members.slice(0, PAGE),
    '/api/0/organizations/acme/projects/': projects,
    '/api/0/projects/acme/shop/rules/': [
      {
        id: '12',
        name: 'New issues',
        projects: ['shop'],
        actions: [],
        conditions: [{ id: 'sentry.rules.conditions.first_seen_event.FirstSeenEventCondition' }],
      },
    ],
  };
  const list = url.pathname.endsWith('/keys/') && kind === 'projects' ? [keyOf(slug)] : lists[url.pathname];
  const first = Number((url.searchParams.get('cursor') ?? '0:0:0').split(':')[1]) * PAGE;
  const { items, isMore } = pageOf(list ?? [], first);
  const next = `<https://sentry.example.com${url.pathname}?cursor=2:${first / PAGE + 1}:0>`;
  const previous = `<https://sentry.example.com${url.pathname}?cursor=2:0:1>; rel="previous"; results="false"`;
  return { value: items, link: `${previous}, ${next}; rel="next"; results="${isMore}"; cursor="2:1:0"` };
};

const OPSGENIE_LISTS: Readonly<Record<string, readonly object[]>> = {
  '/v2/users': NAMES.map((name) => ({
    id: name.toLowerCase(),
    username: `${name.toLowerCase()}@example.com`,
    fullName: name,
    role: { name: 'User' },
    timeZone: 'UTC',
  })),
  '/v2/teams': [{ id: 't1', name: 'Core', members: NAMES.map((name) => ({ user: { id: name.toLowerCase() } })) }],
  '/v2/schedules': [
    {
      id: 's1',
      name: 'Primary',
      timezone: 'UTC',
      enabled: true,
      ownerTeam: { id: 't1', name: 'Core' },
      rotations: [
        {
          id: 'r1',
          name: 'Weeks',
          startDate: '2026-01-05T08:00:00Z',
          type: 'weekly',
          length: 1,
          participants: NAMES.map((name) => ({ type: 'user', id: name.toLowerCase() })),
        },
      ],
    },
  ],
  '/v2/escalations': [
    {
      id: 'esc1',
      name: 'Wake',
      ownerTeam: { id: 't1' },
      rules: [
        {
          condition: 'if-not-acked',
          notifyType: 'default',
          delay: { timeAmount: 5, timeUnit: 'minutes' },
          recipient: { type: 'schedule', id: 's1' },
        },
      ],
    },
  ],
  '/v2/users/ada/contacts': [{ id: 'c1', method: 'sms', to: '31-612345678', status: { enabled: true } }],
};

const opsgenie: Respond = ({ pathname, searchParams }) => {
  const [, , list = '', id, sub] = pathname.split('/');
  if (sub === 'timeline') return null;
  if (id !== undefined && sub === undefined) {
    const found = OPSGENIE_LISTS[`/v2/${list}`]?.find((item) => objectOf(item)?.['id'] === id);
    return found === undefined ? null : { value: { data: found } };
  }
  const { items, isMore } = pageOf(OPSGENIE_LISTS[pathname] ?? [], Number(searchParams.get('offset') ?? 0));
  const paging = isMore ? { next: `https://api.opsgenie.com${pathname}?offset=next` } : {};
  return { value: { data: items, paging } };
};

const ONCALL_LISTS: Readonly<Record<string, readonly object[]>> = {
  users: NAMES.map((name) => ({
    id: `U${name.toUpperCase()}`,
    username: name.toLowerCase(),
    email: `${name.toLowerCase()}@example.com`,
    role: 'user',
    timezone: 'UTC',
  })),
  on_call_shifts: [
    {
      id: 'SHIFT',
      name: 'Weeks',
      type: 'rolling_users',
      level: 0,
      time_zone: null,
      start: '2026-01-05T08:00:00',
      duration: 604_800,
      frequency: 'weekly',
      interval: 1,
      week_start: 'MO',
      start_rotation_from_user_index: 0,
      rolling_users: [['UADA'], ['UBO'], ['UCY']],
    },
  ],
  schedules: [
    { id: 'SPRIMARY', name: 'Primary', type: 'calendar', team_id: null, time_zone: 'UTC', shifts: ['SHIFT'] },
  ],
};

const grafanaOnCall: Respond = ({ pathname, searchParams }) => {
  const [, , , list = '', id] = pathname.split('/');
  if (id !== undefined && id !== '') return null;
  const page = Number(searchParams.get('page') ?? 1);
  const { items, isMore } = pageOf(ONCALL_LISTS[list] ?? [], (page - 1) * PAGE);
  return { value: { count: items.length, next: isMore ? `${pathname}?page=${page + 1}` : null, results: items } };
};

const SHIFTS_EVENT = {
  id: 'EVT1',
  name: 'Week days',
  start_time: { date_time: '2026-06-01T07:00:00Z', time_zone: 'Europe/Berlin' },
  end_time: { date_time: '2026-06-01T15:00:00Z', time_zone: 'Europe/Berlin' },
  effective_since: '2026-06-01T07:00:00Z',
  effective_until: null,
  recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
  assignment_strategy: {
    type: 'rotating_member_assignment_strategy',
    shifts_per_member: 5,
    members: ['UADA', 'UBO'].map((user_id) => ({ type: 'user_member', user_id })),
  },
};

const PAGERDUTY_LISTS: Readonly<Record<string, readonly object[]>> = {
  '/users': NAMES.map((name) => ({
    id: `U${name.toUpperCase()}`,
    type: 'user',
    name,
    email: `${name.toLowerCase()}@example.com`,
    role: 'user',
  })),
  '/v3/schedules': [{ id: 'PSHIFTS', type: 'schedule_v3_reference', summary: 'Shifts' }],
  '/v3/schedules/PSHIFTS/rotations': [{ id: 'ROT1', name: 'Week days' }],
  '/v3/schedules/PSHIFTS/rotations/ROT1/events': [SHIFTS_EVENT],
};

/** PagerDuty with schedules of version 3 alone, whose rotations and events are asked for one by one. */
const pagerDutyShifts: Respond = ({ pathname, searchParams }) => {
  const rotations = [{ id: 'ROT1', name: 'Week days', events: [SHIFTS_EVENT] }];
  if (pathname === '/v3/schedules/PSHIFTS')
    return { value: { schedule: { id: 'PSHIFTS', name: 'Shifts', time_zone: 'Europe/Berlin', rotations } } };
  const offset = Number(searchParams.get('offset') ?? 0);
  const { items, isMore } = pageOf(PAGERDUTY_LISTS[pathname] ?? [], offset);
  return { value: { [pathname.split('/').at(-1) ?? '']: items, more: isMore, limit: PAGE, offset } };
};

/** Doubles of the tools that are asked, by their name. */
export const TOOL_DOUBLES: Readonly<Record<string, ToolDouble>> = {
  pagerduty: {
    respond: pagerDutyShifts,
    keyOf: ({ authorization = '' }) => authorization.replace('Token token=', ''),
    keyText: plain,
    read: { user: 3, schedule: 1, layer: 1 },
  },
  opsgenie: {
    respond: opsgenie,
    keyOf: ({ authorization = '' }) => authorization.replace('GenieKey ', ''),
    keyText: plain,
    read: { user: 3, contact_method: 1, team: 1, team_member: 3, schedule: 1, rotation: 1, policy: 1 },
  },
  'grafana-oncall': {
    respond: grafanaOnCall,
    keyOf: ({ authorization = '' }) => authorization,
    keyText: plain,
    read: { user: 3, schedule: 1, shift: 1 },
  },
  jsm: {
    respond: jsm,
    keyOf: ({ authorization = '' }) => atob(authorization.replace('Basic ', '')).split(':')[1] ?? '',
    keyText: (key) => `ada@example.com:${key}`,
    read: { user: 3, team: 3, schedule: 1, rotation: 1, policy: 1 },
  },
  'splunk-on-call': {
    respond: splunk,
    keyOf: (headers) => (headers['x-vo-api-id'] === 'id' ? String(headers['x-vo-api-key']) : ''),
    keyText: (key) => `id:${key}`,
    read: { user: 3, team: 1, team_member: 3, schedule: 1, policy: 1 },
  },
  'better-stack': { respond: betterStack, keyOf: bearer, keyText: plain, read: { user: 3, schedule: 1, policy: 1 } },
  goalert: {
    respond: goAlert,
    keyOf: bearer,
    keyText: plain,
    read: { user: 3, contact_method: 3, rotation: 1, schedule: 1, override: 1, policy: 1, service: 1 },
  },
  sentry: {
    respond: sentry,
    keyOf: bearer,
    keyText: plain,
    read: { organization: 1, user: 3, membership: 3, team: 1, team_member: 2, project: 3, public_key: 3, rule: 1 },
  },
};
