import { type Ask, eachOf } from '#modules/moving_in/ask.ts';
import { isZone, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { proofWindows } from '#modules/moving_in/decide/proof.ts';
import { objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';
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

const grafanaOnCall: AskedTool = {
  baseUrl: null,
  headers: (key) => ({ authorization: key }),
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

/** Tools whose API can be asked, by name. */
export const ASKED_TOOLS: Readonly<Record<string, AskedTool>> = {
  pagerduty: pagerDuty,
  opsgenie,
  'grafana-oncall': grafanaOnCall,
};
