import { addSchedule } from '#modules/moving_in/decide/add_schedule.ts';
import { isZone, Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';
import { type Recurrence, walkEvents } from '#modules/moving_in/decide/recurrence.ts';
import { type Duty, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { utcMs } from '#kernel/wall_clock.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

const DAY_NAMES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const EVENTS_MAX = 20_000;

interface CalendarEvent {
  readonly name: string;
  readonly zone: string;
  readonly recurrence: Recurrence;
  readonly repeats: boolean;
  readonly count: number | null;
  readonly until: number | null;
  readonly excluded: ReadonlySet<number>;
}

/** Turns iCal feeds into a schedule each, written down until a date; null if there is no feed. */
export function readICal(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const feeds = documents.flatMap(({ path, value }) =>
    typeof value === 'string' && value.includes('BEGIN:VCALENDAR') ? [{ path, text: value }] : [],
  );
  if (feeds.length === 0) return null;
  const moved = new Moved({ prefix: 'ical', title: 'iCal' }, time);
  for (const { path, text } of feeds) addFeed(moved, path, text);
  return moved;
}

/** A property of a component, with its parameters in upper case. */
interface Property {
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
}

function addFeed(moved: Moved, path: string, text: string): void {
  const lines = text
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .map((line) => propertyOf(line));
  const zoneLine = lines.find((line) => line.name === 'X-WR-TIMEZONE')?.value ?? '';
  const zone = isZone(zoneLine)
    ? zoneLine
    : (lines.map(({ parameters }) => /TZID="?([^;":]+)/.exec(parameters)?.[1] ?? '').find((name) => isZone(name)) ??
      'UTC');
  const name = lines.find((line) => line.name === 'X-WR-CALNAME')?.value ?? path;
  const events: CalendarEvent[] = [];
  let open: Property[] | null = null;
  let index = 0;
  for (const line of lines) {
    if (line.name === 'BEGIN' && line.value === 'VEVENT') open = [];
    else if (line.name === 'END' && line.value === 'VEVENT' && open !== null) {
      index += 1;
      if (index <= EVENTS_MAX) events.push(...readEvent(moved, moved.clock(zone), zone, open, `${path}/${index}`));
      open = null;
    } else open?.push(line);
  }
  const walk = (from: number, to: number): Stretch[] =>
    layOver(
      events.flatMap((event) => dutiesOf(moved, event, from, to)),
      from,
      to,
    );
  addSchedule(moved, {
    id: path,
    name,
    zone,
    teamIds: [],
    patterns: { because: 'a feed says who is on call and not why' },
    overrides: [],
    rendered: [],
    walk,
  });
}

function propertyOf(line: string): Property {
  const match = /^([A-Za-z-]+)((?:;[^:"]*(?:"[^"]*")?[^:"]*)*):(.*)$/.exec(line);
  return {
    name: (match?.[1] ?? '').toUpperCase(),
    parameters: match?.[2] ?? '',
    value: (match?.[3] ?? '').replaceAll(/\\([,;\\])/g, '$1').replaceAll(/\\n/gi, ' '),
  };
}

function readEvent(
  moved: Moved,
  clock: ZoneClock,
  feedZone: string,
  properties: readonly Property[],
  fallback: string,
): CalendarEvent[] {
  const find = (name: string): Property | undefined => properties.find((property) => property.name === name);
  const id = `${find('UID')?.value ?? fallback}${find('RECURRENCE-ID') === undefined ? '' : `/${find('RECURRENCE-ID')?.value ?? ''}`}`;
  const name = find('SUMMARY')?.value ?? '';
  moved.ledger.see('event', id, name);
  const [start, end] = [momentOf(find('DTSTART'), clock), momentOf(find('DTEND'), clock)];
  const people = peopleOf(moved, properties);
  if (start === null || end === null || end <= start || find('STATUS')?.value === 'CANCELLED' || people.length === 0) {
    const reason =
      people.length === 0
        ? 'It names nobody by a mail address.'
        : 'It is cancelled, or its beginning or end cannot be read.';
    moved.ledger.judge(
      'event',
      id,
      'refused',
      reason,
      people.length === 0 ? 'Export the feed with attendees, or enter the shift by hand.' : '',
    );
    return [];
  }
  const rule = new Map(
    (find('RRULE')?.value ?? '').split(';').map((part) => [part.split('=')[0] ?? '', part.split('=')[1] ?? '']),
  );
  const frequency = (rule.get('FREQ') ?? '').toLowerCase();
  const isKnown = frequency === 'hourly' || frequency === 'daily' || frequency === 'weekly' || frequency === 'monthly';
  moved.ledger.judge('event', id, 'horizon', 'It is part of the rendered schedule.');
  if (frequency !== '' && !isKnown)
    moved.ledger.judge('event', id, 'refused', `It repeats ${frequency}, of which only the first is taken.`);
  return [
    {
      name,
      zone: feedZone,
      recurrence: {
        startWall: clock.wallOf(start),
        durationMs: end - start,
        frequency: isKnown ? frequency : 'weekly',
        interval: Math.max(1, Number(rule.get('INTERVAL') ?? 1) || 1),
        days: (rule.get('BYDAY') ?? '')
          .split(',')
          .map((day) => DAY_NAMES.indexOf(day))
          .filter((day) => day >= 0),
        weekStart: Math.max(0, DAY_NAMES.indexOf(rule.get('WKST') ?? 'MO')),
        groups: [people],
        changesBy: 'event',
        perGroup: 1,
      },
      repeats: isKnown,
      count: rule.has('COUNT') ? Number(rule.get('COUNT')) : null,
      until: rule.has('UNTIL')
        ? momentOf({ name: 'UNTIL', parameters: '', value: rule.get('UNTIL') ?? '' }, clock)
        : null,
      excluded: new Set(
        properties
          .filter((property) => property.name === 'EXDATE')
          .flatMap(({ value, ...property }) =>
            value.split(',').flatMap((text) => momentOf({ ...property, value: text }, clock) ?? []),
          ),
      ),
    },
  ];
}

function momentOf(property: Property | undefined, feedClock: ZoneClock): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(property?.value ?? '');
  if (match === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', isUtc] = match;
  const wall = utcMs(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  return isUtc === undefined ? feedClock.instantOf(wall) : wall;
}

/** Returns the people of an event by the mail addresses of attendees, else of its text. */
function peopleOf(moved: Moved, properties: readonly Property[]): string[] {
  const attendees = properties.filter(({ name }) => name === 'ATTENDEE');
  const attending = attendees.flatMap(({ value, parameters }) => {
    const email = /mailto:([^\s]+@[^\s]+)/i.exec(value)?.[1];
    return email === undefined ? [] : [{ email, name: /CN="?([^";:]+)/i.exec(parameters)?.[1] ?? email }];
  });
  const inText = properties
    .filter(({ name }) => name === 'SUMMARY' || name === 'DESCRIPTION')
    .flatMap(({ value }) => value.match(/[\w.+-]+@[\w-]+\.[\w.-]*\w/g) ?? []);
  const all = attending.length > 0 ? attending : inText.map((email) => ({ email, name: email }));
  return [
    ...new Set(
      all.flatMap(({ email, name }) => {
        const id = email.toLowerCase();
        if (moved.person(id) === null)
          moved.addPerson({ id, name, email, role: 'responder', zone: '', phones: [], channels: null });
        return moved.person(id) ?? [];
      }),
    ),
  ];
}

function dutiesOf(
  moved: Moved,
  { recurrence, repeats, count, until, excluded, zone }: CalendarEvent,
  from: number,
  to: number,
): Duty[] {
  const clock = moved.clock(zone);
  const first = clock.instantOf(recurrence.startWall);
  const events = repeats
    ? walkEvents(recurrence, clock, count === null ? from : first, to)
    : [{ from: first, to: first + recurrence.durationMs, people: recurrence.groups[0] ?? [] }];
  return events
    .slice(0, count ?? undefined)
    .filter((event) => !excluded.has(event.from) && (until === null || event.from <= until))
    .map((event) => ({ ...event, level: 0 }));
}
