import { addPolicies, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
import { addSchedule } from '#modules/moving_in/decide/add_schedule.ts';
import { Moved, phoneInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import {
  idInPath,
  instantOf,
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';
import { type Duty, layOver } from '#modules/moving_in/decide/timeline.ts';

const KINDS = new Set(['user', 'team_member', 'on_call_calendar', 'on_call_schedule', 'policy', 'on_call_event']);

/** Turns answers of Better Stack, which are JSON:API, into a file; null if none of the documents is one. */
export function readBetterStack(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const resources = documents.flatMap(({ path, value }) => {
    const body = objectOf(value);
    const single = objectOf(body?.['data']);
    const list = single === null ? objectsOf(body?.['data']) : [single];
    return [...list, ...objectsOf(body?.['included'])].map((resource) => ({
      path,
      id: textOf(resource, 'id'),
      type: textOf(resource, 'type'),
      attributes: objectOf(resource['attributes']) ?? {},
    }));
  });
  if (!resources.some(({ type }) => KINDS.has(type))) return null;
  const moved = new Moved({ prefix: 'betterstack', title: 'Better Stack' }, time);
  for (const { id, type, attributes } of resources) {
    if (type !== 'user' && type !== 'team_member') continue;
    const email = textOf(attributes, 'email');
    const phones = (Array.isArray(attributes['phone_numbers']) ? attributes['phone_numbers'] : []).flatMap((phone) =>
      typeof phone === 'string' ? (phoneInFile(phone, '') ?? []) : [],
    );
    const name =
      textOf(attributes, 'name') || `${textOf(attributes, 'first_name')} ${textOf(attributes, 'last_name')}`.trim();
    moved.addPerson({
      id,
      name: name === '' ? email : name,
      email,
      role: ['owner', 'admin'].includes(textOf(attributes, 'role')) ? 'admin' : 'responder',
      zone: '',
      phones,
      channels: null,
    });
    moved.alias(email.trim().toLowerCase(), id);
  }
  const calendars = resources.filter(({ type }) => type === 'on_call_calendar' || type === 'on_call_schedule');
  const calendarIn = idInPath(calendars.map(({ id }) => id));
  for (const { id, attributes } of calendars) {
    moved.ledger.see('schedule', id, textOf(attributes, 'name') || 'Default');
    const events = resources
      .filter(({ type, path }) => type === 'on_call_event' && calendarIn(path) === id)
      .map((event) => event.attributes);
    const duties = [
      ...events,
      ...documents
        .filter(({ path }) => calendarIn(path) === id && path.includes('events'))
        .flatMap(({ value }) => [...objectsOf(value), ...objectsOf(objectOf(value)?.['events'])]),
    ].flatMap((event) => dutyOf(moved, id, event));
    addSchedule(moved, {
      id,
      name: textOf(attributes, 'name') || 'Default',
      zone: textOf(attributes, 'time_zone') || 'UTC',
      teamIds: [],
      patterns: { because: 'the API tells who is on call and not by which turns' },
      overrides: [],
      rendered: [],
      walk: (from, to) => layOver(duties, from, to),
      until: Math.max(time.now, ...duties.map(({ to }) => to)),
    });
  }
  const usual = calendars.find(({ attributes }) => attributes['default_calendar'] === true) ?? calendars[0];
  addPolicies(
    moved,
    resources
      .filter(({ type }) => type === 'policy')
      .map(({ id, attributes }) => policyOf(id, attributes, usual?.id ?? '')),
  );
  for (const { id, type } of resources)
    if (!KINDS.has(type))
      moved.ledger.see(type === '' ? 'resource' : type, id, id).refuse('Resources of this type are not taken over.');
  return moved;
}

function dutyOf(moved: Moved, calendarId: string, event: RawObject): Duty[] {
  const [from, to] = [instantOf(textOf(event, 'starts_at')), instantOf(textOf(event, 'ends_at'))];
  const users = Array.isArray(event['users']) ? event['users'] : [];
  const people = users.flatMap((user) => {
    const email = typeof user === 'string' ? user.trim() : textOf(objectOf(user), 'email');
    const key = moved.person(email.toLowerCase());
    if (key !== null) return [key];
    const reason = `${email === '' ? 'Somebody' : email} is not among the people that were read; their turns are nobody's.`;
    moved.ledger.item('schedule', calendarId).judge('horizon', reason, 'Read all members of the team.');
    return [];
  });
  return from === null || to === null ? [] : [{ from, to, people, level: event['override'] === true ? 1 : 0 }];
}

function policyOf(
  id: string,
  attributes: RawObject,
  usualCalendarId: string,
): {
  id: string;
  name: string;
  teamIds: string[];
  steps: { afterMinutes: number; targets: ReadTarget[] }[];
  repeat: { times: number; pauseMinutes: number } | null;
  losses: string[];
} {
  let seconds = 0;
  const losses: string[] = [];
  const steps = objectsOf(attributes['steps']).map((step) => {
    seconds += numberOf(step, 'wait_before') ?? 0;
    const type = textOf(step, 'type') || 'escalation';
    if (type !== 'escalation') losses.push(`A step of the type "${type}" has no like here.`);
    if (textOf(step, 'wait_until_time') !== '')
      losses.push(`A step waits until ${textOf(step, 'wait_until_time')}; here it comes at once.`);
    const targets = objectsOf(step['step_members']).flatMap((member): ReadTarget[] => {
      const target = textOf(member, 'id');
      switch (textOf(member, 'type')) {
        case 'user':
          return [{ kind: 'user', id: target, name: target }];
        case 'current_on_call': {
          const schedule = target === '' ? usualCalendarId : target;
          return [{ kind: 'schedule', id: schedule, name: schedule }];
        }
        default:
          losses.push(`A member of the type "${textOf(member, 'type')}" has no like here.`);
          return [];
      }
    });
    return { afterMinutes: seconds / 60, targets };
  });
  const times = numberOf(attributes, 'repeat_count') ?? 0;
  return {
    id,
    name: textOf(attributes, 'name'),
    teamIds: [],
    steps,
    repeat: times > 0 ? { times, pauseMinutes: Math.round((numberOf(attributes, 'repeat_delay') ?? 0) / 60) } : null,
    losses,
  };
}
