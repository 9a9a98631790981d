import { type Ask, eachOf } from '#modules/moving_in/ask.ts';
import { isZone, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { proofWindows } from '#modules/moving_in/decide/proof.ts';
import { objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';
import { AppError } from '#kernel/errors.ts';
import { DAY_MS, ZoneClock } from '#kernel/zone_clock.ts';

/** Way to ask the API of a tool. */
export interface AskedTool {
  /** Usual address; null: it has to be given. */
  readonly baseUrl: string | null;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** Asks for everything that the reader of the tool knows. */
  readonly ask: (ask: Ask, time: ReadingTime) => Promise<void>;
}

const PAGE = 100;
const PAGES_MAX = 10_000;

const encode = encodeURIComponent;

function iso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Returns the windows in which a schedule of this zone is asked to be rendered. */
function windowsOf(zone: string, { now, proofFrom }: ReadingTime): { from: number; to: number }[] {
  return proofWindows(new ZoneClock(isZone(zone) ? zone : 'UTC'), now, proofFrom);
}

const pagerDuty: AskedTool = {
  baseUrl: 'https://api.pagerduty.com',
  headers: (key) => ({
    authorization: `Token token=${key}`,
    accept: 'application/vnd.pagerduty+json;version=2',
    'x-early-access': 'flexible-schedules-early-access',
  }),
  ask: async (ask, time) => {
    const list = async (path: string, name: string, query = '', isOptional = false): Promise<RawObject[]> => {
      const items: RawObject[] = [];
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const body = objectOf(await ask.get(`${path}?limit=${PAGE}&offset=${items.length}${query}`, isOptional));
        const values = objectsOf(body?.[name]);
        items.push(...values);
        if (body?.['more'] !== true || values.length === 0) break;
      }
      return items;
    };
    await list('/users', 'users', `&${encode('include[]')}=contact_methods&${encode('include[]')}=notification_rules`);
    const teams = await list('/teams', 'teams');
    await eachOf(teams, async (team) => void (await list(`/teams/${encode(textOf(team, 'id'))}/members`, 'members')));
    const schedules = await list('/schedules', 'schedules');
    await eachOf(schedules, async (schedule) => {
      const [id, zone] = [encode(textOf(schedule, 'id')), textOf(schedule, 'time_zone')];
      for (const { from, to } of windowsOf(zone, time)) {
        await ask.get(`/schedules/${id}?time_zone=${encode(zone)}&since=${iso(from)}&until=${iso(to)}`);
      }
      for (let day = 0; day < 180; day += 90) {
        const start = time.now + day * DAY_MS;
        await ask.get(`/schedules/${id}/overrides?since=${iso(start)}&until=${iso(start + 90 * DAY_MS)}`);
      }
    });
    await list('/escalation_policies', 'escalation_policies');
    await list('/services', 'services', `&${encode('include[]')}=integrations`);
    await list('/maintenance_windows', 'maintenance_windows', '&filter=all');
    const shiftBased = await list('/v3/schedules', 'schedules', '', true);
    await eachOf(shiftBased, async (reference) => {
      const id = encode(textOf(reference, 'id'));
      const schedule = objectOf(objectOf(await ask.get(`/v3/schedules/${id}`))?.['schedule']);
      for (const { from, to } of windowsOf(textOf(schedule, 'time_zone'), time)) {
        await ask.get(`/v3/schedules/${id}?since=${iso(from)}&until=${iso(to)}&${encode('include[]')}=final_schedule`);
      }
      const rotations = await list(`/v3/schedules/${id}/rotations`, 'rotations', '', true);
      for (const rotation of rotations) {
        await list(`/v3/schedules/${id}/rotations/${encode(textOf(rotation, 'id'))}/events`, 'events', '', true);
      }
      const ahead = `&since=${iso(time.now)}&until=${iso(time.now + 180 * DAY_MS)}`;
      await list(`/v3/schedules/${id}/custom_shifts`, 'custom_shifts', ahead, true);
      await list(`/v3/schedules/${id}/overrides`, 'overrides', ahead, true);
    });
  },
};

const opsgenie: AskedTool = {
  baseUrl: 'https://api.opsgenie.com',
  headers: (key) => ({ authorization: `GenieKey ${key}` }),
  ask: async (ask, time) => {
    const list = async (path: string, query = '', isOptional = false): Promise<RawObject[]> => {
      const items: RawObject[] = [];
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const body = objectOf(await ask.get(`${path}?limit=${PAGE}&offset=${items.length}${query}`, isOptional));
        const values = objectsOf(body?.['data']);
        items.push(...values);
        if (textOf(objectOf(body?.['paging']), 'next') === '' || values.length === 0) break;
      }
      return items;
    };
    const users = await list('/v2/users');
    await eachOf(users, async (user) => {
      const id = encode(textOf(user, 'id'));
      await ask.get(`/v2/users/${id}/contacts`, true);
      await ask.get(`/v2/users/${id}/notification-rules`, true);
    });
    const teams = objectsOf(objectOf(await ask.get('/v2/teams'))?.['data']);
    await eachOf(teams, async (team) => {
      const id = encode(textOf(team, 'id'));
      await ask.get(`/v2/teams/${id}?identifierType=id`);
      await ask.get(`/v2/teams/${id}/routing-rules?teamIdentifierType=id`, true);
    });
    const schedules = await list('/v2/schedules', '&expand=rotation');
    await eachOf(schedules, async (schedule) => {
      const id = encode(textOf(schedule, 'id'));
      await ask.get(`/v2/schedules/${id}?identifierType=id`);
      await ask.get(`/v2/schedules/${id}/overrides?scheduleIdentifierType=id`, true);
      for (const { from, to } of windowsOf(textOf(schedule, 'timezone'), time)) {
        const days = Math.round((to - from) / DAY_MS);
        await ask.get(
          `/v2/schedules/${id}/timeline?identifierType=id&interval=${days}&intervalUnit=days&date=${iso(from)}`,
          true,
        );
      }
    });
    await list('/v2/escalations');
    await list('/v2/forwarding-rules', '', true);
    await list('/v2/integrations', '', true);
    await ask.get('/v1/maintenance?type=non-expired', true);
  },
};

/** Grafana OnCall. The token of a service account needs the address of its stack: `STACK_URL:TOKEN`. */
const grafanaOnCall: AskedTool = {
  baseUrl: null,
  headers: (key): Readonly<Record<string, string>> => {
    const [, stack, token] = /^(https?:\/\/.+):([^:/]+)$/.exec(key) ?? [];
    return stack === undefined || token === undefined
      ? { authorization: key }
      : { authorization: token, 'x-grafana-url': stack };
  },
  ask: async (ask, time) => {
    const list = async (path: string, query = '', isOptional = false): Promise<RawObject[]> => {
      const items: RawObject[] = [];
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const body = objectOf(await ask.get(`/api/v1/${path}/?page=${page}${query}`, isOptional));
        const values = objectsOf(body?.['results']);
        items.push(...values);
        if (textOf(body, 'next') === '' || values.length === 0) break;
      }
      return items;
    };
    await list('users');
    await list('teams', '', true);
    await list('on_call_shifts');
    const schedules = await list('schedules');
    await eachOf(schedules, async (schedule) => {
      for (const { from, to } of windowsOf(textOf(schedule, 'time_zone'), time)) {
        const days = `&start_date=${iso(from).slice(0, 10)}&end_date=${iso(to).slice(0, 10)}`;
        await list(`schedules/${encode(textOf(schedule, 'id'))}/final_shifts`, days, true);
      }
    });
    for (const path of [
      'escalation_chains',
      'escalation_policies',
      'integrations',
      'routes',
      'personal_notification_rules',
      'shift_swaps',
    ]) {
      await list(path, '', true);
    }
  },
};

/**
 * Jira Service Management: users are in Jira, at the address of the site; the rest in the Operations API, whose address
 * is one for all sites. The key is `ADDRESS:TOKEN` of an account, or a token of OAuth.
 */
const jsm: AskedTool = {
  baseUrl: null,
  headers: (key) => ({
    authorization: key.includes(':') ? `Basic ${Buffer.from(key).toString('base64')}` : `Bearer ${key}`,
  }),
  ask: async (ask, time) => {
    const tenant = objectOf((await ask.answer({ path: '/_edge/tenant_info', isAside: true }))?.value);
    const cloudId = textOf(tenant, 'cloudId');
    if (cloudId === '') throw new AppError('invalid_input', 'the site tells no cloud id: check --base-url');
    const origin = ask.origin.endsWith('.atlassian.net') ? 'https://api.atlassian.com' : ask.origin;
    const at = `/jsm/ops/api/${encode(cloudId)}/v1`;
    const get = async (path: string, isOptional = false): Promise<RawObject | null> =>
      objectOf((await ask.answer({ path: `${at}${path}`, origin, isOptional }))?.value);
    const list = async (path: string, name = 'values', isOptional = false): Promise<RawObject[]> => {
      const items: RawObject[] = [];
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const body = await get(`${path}?offset=${items.length}&size=50`, isOptional);
        const values = objectsOf(body?.[name]);
        items.push(...values);
        if (textOf(objectOf(body?.['links']), 'next') === '' || values.length === 0) break;
      }
      return items;
    };
    for (let first = 0, page = 0; page < PAGES_MAX; page += 1) {
      const users = objectsOf(await ask.get(`/rest/api/3/users/search?startAt=${first}&maxResults=${PAGE}`));
      if (users.length === 0) break;
      first += users.length;
    }
    const teams = await list('/teams', 'platformTeams');
    await eachOf(teams, async (team) => {
      const id = encode(textOf(team, 'teamId'));
      await list(`/teams/${id}/escalations`, 'values', true);
      await list(`/teams/${id}/routing-rules`, 'values', true);
    });
    const schedules = await list('/schedules');
    await eachOf(schedules, async (schedule) => {
      const id = encode(textOf(schedule, 'id'));
      await list(`/schedules/${id}/rotations`);
      await list(`/schedules/${id}/overrides`, 'values', true);
      for (const { from, to } of windowsOf(textOf(schedule, 'timezone'), time)) {
        const days = Math.round((to - from) / DAY_MS);
        await get(`/schedules/${id}/timeline?interval=${days}&intervalUnit=days&date=${iso(from)}`, true);
      }
    });
    await list('/integrations', 'values', true);
    await list('/maintenances', 'values', true);
  },
};

/** Splunk On-Call, whose key has two parts: `API_ID:API_KEY`. */
const splunkOnCall: AskedTool = {
  baseUrl: 'https://api.victorops.com',
  headers: (key) => {
    const [id = '', ...rest] = key.split(':');
    return { 'x-vo-api-id': id, 'x-vo-api-key': rest.join(':') };
  },
  ask: async (ask) => {
    const users = objectOf(await ask.get('/api-public/v2/user'))?.['users'];
    await eachOf(objectsOf(users), async (user) => {
      await ask.get(`/api-public/v1/user/${encode(textOf(user, 'username'))}/contact-methods`, true);
    });
    const teams = objectsOf(await ask.get('/api-public/v1/team'));
    await eachOf(teams, async (team) => {
      const slug = encode(textOf(team, 'slug'));
      await ask.get(`/api-public/v1/team/${slug}/members`);
      await ask.get(`/api-public/v2/team/${slug}/oncall/schedule?daysForward=123`, true);
    });
    const policies = objectsOf(objectOf(await ask.get('/api-public/v1/policies'))?.['policies']);
    await eachOf(policies, async (entry) => {
      const slug = textOf(objectOf(entry['policy']) ?? entry, 'slug');
      await ask.get(`/api-public/v1/policies/${encode(slug)}`);
    });
  },
};

const betterStack: AskedTool = {
  baseUrl: 'https://uptime.betterstack.com',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  ask: async (ask) => {
    const list = async (path: string, isOptional = false): Promise<RawObject[]> => {
      const items: RawObject[] = [];
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const body = objectOf(await ask.get(`${path}?page=${page}`, isOptional));
        const values = objectsOf(body?.['data']);
        items.push(...values);
        if (textOf(objectOf(body?.['pagination']), 'next') === '' || values.length === 0) break;
      }
      return items;
    };
    await list('/api/v2/team-members');
    const calendars = await list('/api/v2/on-calls');
    await eachOf(calendars, async (calendar) => {
      await ask.get(`/api/v2/on-calls/${encode(textOf(calendar, 'id'))}/events`);
    });
    await list('/api/v3/policies');
  },
};

/** Query that a key of GoAlert is made for: such a key answers to one query only. */
export const GOALERT_QUERY = `query Tocsin($users: String!, $rotations: String!, $schedules: String!, $policies: String!, $services: String!, $overrides: String!) {
  users(first: 50, after: $users) { nodes { id name email role contactMethods { id type name value } notificationRules { id delayMinutes contactMethodID } } pageInfo { endCursor hasNextPage } }
  rotations(input: { first: 50, after: $rotations }) { nodes { id name type shiftLength start timeZone activeUserIndex userIDs } pageInfo { endCursor hasNextPage } }
  schedules(input: { first: 50, after: $schedules }) { nodes { id name timeZone targets { target { id type name } rules { start end weekdayFilter } } temporarySchedules { start end shifts { userID start end } } } pageInfo { endCursor hasNextPage } }
  escalationPolicies(input: { first: 50, after: $policies }) { nodes { id name repeat steps { delayMinutes targets { id type name } } } pageInfo { endCursor hasNextPage } }
  services(input: { first: 50, after: $services }) { nodes { id name escalationPolicyID } pageInfo { endCursor hasNextPage } }
  userOverrides(input: { first: 50, after: $overrides }) { nodes { id start end addUserID removeUserID target { id type name } } pageInfo { endCursor hasNextPage } }
}`;

const GOALERT_LISTS: Readonly<Record<string, string>> = {
  users: 'users',
  rotations: 'rotations',
  schedules: 'schedules',
  policies: 'escalationPolicies',
  services: 'services',
  overrides: 'userOverrides',
};

const goAlert: AskedTool = {
  baseUrl: null,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  ask: async (ask) => {
    const after: Record<string, string> = Object.fromEntries(Object.keys(GOALERT_LISTS).map((name) => [name, '']));
    for (let page = 1; page <= PAGES_MAX; page += 1) {
      const answer = await ask.answer({
        path: '/api/graphql',
        name: `/api/graphql?page=${page}`,
        body: { query: GOALERT_QUERY, operationName: 'Tocsin', variables: after },
      });
      const data = objectOf(objectOf(answer?.value)?.['data']);
      let isMore = false;
      for (const [name, list] of Object.entries(GOALERT_LISTS)) {
        const info = objectOf(objectOf(data?.[list])?.['pageInfo']);
        const cursor = textOf(info, 'endCursor');
        if (cursor !== '') after[name] = cursor;
        isMore ||= info?.['hasNextPage'] === true && cursor !== '';
      }
      if (!isMore) return;
    }
  },
};

const sentry: AskedTool = {
  baseUrl: 'https://sentry.io',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  ask: async (ask) => {
    const list = async (path: string, query = '', isOptional = false): Promise<RawObject[]> => {
      const items: RawObject[] = [];
      for (let next: string | null = query, page = 0; next !== null && page < PAGES_MAX; page += 1) {
        const answer = await ask.answer({ path: `/api/0/${path}/${next}`, isOptional });
        items.push(...objectsOf(answer?.value));
        next = answer?.next ?? null;
      }
      return items;
    };
    for (const organization of await list('organizations')) {
      const slug = encode(textOf(organization, 'slug'));
      await list(`organizations/${slug}/members`);
      const teams = await list(`organizations/${slug}/teams`);
      await eachOf(teams, async (team) => void (await list(`teams/${slug}/${encode(textOf(team, 'slug'))}/members`)));
      const projects = await list(`organizations/${slug}/projects`, '?all_projects=1');
      await eachOf(projects, async (project) => {
        const at = `projects/${slug}/${encode(textOf(project, 'slug'))}`;
        await list(`${at}/keys`);
        await list(`${at}/rules`, '', true);
      });
      await list(`organizations/${slug}/alert-rules`, '', true);
    }
  },
};

/** Tools whose API can be asked, by name. */
export const ASKED_TOOLS: Readonly<Record<string, AskedTool>> = {
  pagerduty: pagerDuty,
  opsgenie,
  jsm,
  'grafana-oncall': grafanaOnCall,
  'splunk-on-call': splunkOnCall,
  'better-stack': betterStack,
  goalert: goAlert,
  sentry,
};
