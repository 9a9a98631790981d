import type { Item } from '#modules/moving_in/decide/ledger.ts';
import { addSchedule } from '#modules/moving_in/decide/add_schedule.ts';
import { isZone, Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';
import { readRule, type Recurrence, walkEvents } from '#modules/moving_in/decide/recurrence.ts';
import { type Duty, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { utcMs } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

const EVENTS_MAX = 20_000;

/** A property of a component, with its parameters. */
interface Property {
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
}

/** An event of a feed, read. */
interface CalendarEvent {
  readonly clock: ZoneClock;
  /** Null: it takes place once. */
  readonly recurrence: Recurrence | null;
  readonly start: Moment;
  readonly durationMs: number;
  readonly people: readonly string[];
  /** Beginnings of further events, and of those that do not take place. */
  readonly added: readonly Moment[];
  readonly excluded: Set<number>;
}

/** Turns iCal feeds into overrides of a schedule each, until a date; null if there is no feed. */
export function readICal(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const feeds = documents.flatMap(({ path, value }) =>
    typeof value === 'string' && value.includes('BEGIN:VCALENDAR') ? [{ path, text: value }] : [],
  );
  if (feeds.length === 0) return null;
  const moved = new Moved({ prefix: 'ical', title: 'iCal' }, time);
  for (const { path, text } of feeds) addFeed(moved, path, text);
  return moved;
}

function addFeed(moved: Moved, path: string, text: string): void {
  const lines = text
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .map((line) => propertyOf(line));
  const zoneLine = lines.find((line) => line.name === 'X-WR-TIMEZONE')?.value ?? '';
  const zone = isZone(zoneLine)
    ? zoneLine
    : (lines.map((line) => parameterOf(line, 'TZID')).find((name) => isZone(name)) ?? 'UTC');
  const events = readEvents(moved, { path, zone, zones: zonesOf(lines) }, eventsOf(lines));
  addSchedule(moved, {
    id: path,
    name: lines.find((line) => line.name === 'X-WR-CALNAME')?.value ?? path,
    zone,
    teamIds: [],
    patterns: { because: 'a feed says who is on call and not why', asOverrides: true },
    overrides: [],
    rendered: [],
    walk: (from, to): Stretch[] =>
      layOver(
        events.flatMap((event) => dutiesOf(event, from, to)),
        from,
        to,
      ),
  });
}

/** Returns the properties of each event, without those of components within it, such as reminders. */
function eventsOf(lines: readonly Property[]): Property[][] {
  const events: Property[][] = [];
  let open: Property[] | null = null;
  let depth = 0;
  for (const line of lines) {
    if (line.name === 'BEGIN' && line.value === 'VEVENT') [open, depth] = [[], 0];
    else if (line.name === 'END' && line.value === 'VEVENT') {
      if (open !== null) events.push(open);
      open = null;
    } else if (line.name === 'BEGIN') depth += 1;
    else if (line.name === 'END') depth -= 1;
    else if (depth === 0) open?.push(line);
  }
  return events;
}

/** Returns the names that the feed has for zones, for example those of Outlook, with the zones that they say they are. */
function zonesOf(lines: readonly Property[]): Map<string, string> {
  const zones = new Map<string, string>();
  let name = '';
  for (const line of lines) {
    if (line.name === 'TZID') name = line.value;
    else if (line.name === 'X-LIC-LOCATION' && isZone(line.value)) zones.set(name, line.value);
  }
  return zones;
}

function propertyOf(line: string): Property {
  const match = /^([A-Za-z-]+)((?:;[^:";]*(?:"[^"]*"[^:";]*)*)*):(.*)$/.exec(line);
  return {
    name: (match?.[1] ?? '').toUpperCase(),
    parameters: match?.[2] ?? '',
    value: (match?.[3] ?? '').replaceAll(/\\([,;\\])/g, '$1').replaceAll(/\\n/gi, ' '),
  };
}

function parameterOf({ parameters }: Property, name: string): string {
  return new RegExp(`;${name}=(?:"([^"]*)"|([^;:]*))`, 'i').exec(parameters)?.slice(1).join('') ?? '';
}

interface Feed {
  readonly path: string;
  readonly zone: string;
  readonly zones: ReadonlyMap<string, string>;
}

/** Reads the events. One with a RECURRENCE-ID stands in place of that one event of its series. */
function readEvents(moved: Moved, feed: Feed, components: readonly Property[][]): CalendarEvent[] {
  const series = new Map<string, CalendarEvent>();
  const single: CalendarEvent[] = [];
  const replaced: { readonly uid: string; readonly start: number }[] = [];
  for (const [index, properties] of components.entries()) {
    const find = (name: string): Property | undefined => properties.find((property) => property.name === name);
    const recurrenceId = find('RECURRENCE-ID');
    const uid = find('UID')?.value ?? `${feed.path}/${index + 1}`;
    const id = recurrenceId === undefined ? uid : `${uid}/${recurrenceId.value}`;
    const item = moved.ledger.see('event', id, find('SUMMARY')?.value ?? '');
    if (index >= EVENTS_MAX) {
      item.refuse(`A feed has at most ${EVENTS_MAX} events.`, 'Give a feed of less time.');
      continue;
    }
    const replacedStart = recurrenceId === undefined ? null : momentOf(moved, feed, recurrenceId);
    if (recurrenceId !== undefined) {
      if (replacedStart === null || parameterOf(recurrenceId, 'RANGE') !== '') {
        item.refuse(
          'It changes all events from one on, which nothing here reads.',
          'Enter the shifts from then on by hand.',
        );
        continue;
      }
      replaced.push({ uid, start: replacedStart.ms });
    }
    if (find('STATUS')?.value.toUpperCase() === 'CANCELLED') {
      item.judge('exact', 'It is cancelled, so nobody is on call by it.');
      continue;
    }
    const event = readEvent(moved, feed, properties, item);
    if (event === null) continue;
    item.judge('horizon', 'It is part of the rendered schedule.');
    if (recurrenceId === undefined && !series.has(uid)) series.set(uid, event);
    else single.push(event);
  }
  for (const { uid, start } of replaced) series.get(uid)?.excluded.add(start);
  return [...series.values(), ...single];
}

function readEvent(moved: Moved, feed: Feed, properties: readonly Property[], item: Item): CalendarEvent | null {
  const find = (name: string): Property | undefined => properties.find((property) => property.name === name);
  const dtstart = find('DTSTART');
  const start = dtstart === undefined ? null : momentOf(moved, feed, dtstart);
  const zone = dtstart === undefined ? '' : parameterOf(dtstart, 'TZID');
  if (start === null && zone !== '' && zoneOf(feed, zone) === null) {
    item.refuse(`Nobody knows the time zone "${zone}".`, 'Export the feed with IANA zones such as Europe/Amsterdam.');
    return null;
  }
  const durationMs = start === null ? null : durationOf(moved, feed, start, find('DTEND'), find('DURATION'));
  if (start === null || durationMs === null || durationMs <= 0) {
    item.refuse('Its beginning or its end cannot be read.', 'Enter the shift by hand.');
    return null;
  }
  const people = peopleOf(moved, properties);
  if (people.length === 0) {
    item.refuse('It names nobody by a mail address.', 'Export the feed with attendees, or enter the shift by hand.');
    return null;
  }
  const line = find('RRULE');
  const rule = line === undefined ? null : readRule(line.value, start.clock);
  if (rule !== null && 'because' in rule)
    item.refuse(`Only its first event is taken, because ${rule.because}.`, 'Enter the further shifts by hand.');
  const once = rule === null || 'because' in rule;
  const startsOf = (name: string): Moment[] =>
    properties
      .filter((property) => property.name === name)
      .flatMap((property) =>
        property.value.split(',').flatMap((value) => momentOf(moved, feed, { ...property, value }) ?? []),
      );
  const turns = { groups: [people], changesBy: 'event', perGroup: 1 } as const;
  const recurrence: Recurrence | null = once ? null : { ...rule, startWall: start.wall, durationMs, ...turns };
  // The beginning counts as the first event, also where the rule does not say it.
  const isBeside =
    recurrence !== null &&
    !walkEvents(recurrence, start.clock, start.ms, start.ms + 1).some((event) => event.from === start.ms);
  const isCounted = isBeside && recurrence.count != null;
  if (isCounted) {
    item.judge(
      'horizon',
      `Its beginning does not follow its rule, and calendars differ in what they count then: here it is the first of ${recurrence.count}.`,
      'Compare its last shift with the calendar.',
    );
  }
  return {
    clock: start.clock,
    recurrence: isCounted ? { ...recurrence, count: (recurrence.count ?? 1) - 1 } : recurrence,
    start,
    durationMs,
    people,
    added: [...(isBeside ? [start] : []), ...startsOf('RDATE')],
    excluded: new Set(startsOf('EXDATE').map(({ ms }) => ms)),
  };
}

interface Moment {
  readonly ms: number;
  /** Time of the wall clock as it is written, also one that the clocks skip. */
  readonly wall: number;
  readonly clock: ZoneClock;
  /** Whether it is a date, which begins with the day in the zone of the feed. */
  readonly isDay: boolean;
}

/** Returns the zone that a feed calls by this name; null if nobody knows it. */
function zoneOf({ zone, zones }: Feed, name: string): string | null {
  if (name === '') return zone;
  return isZone(name) ? name : (zones.get(name) ?? null);
}

function momentOf(moved: Moved, feed: Feed, property: Property): Moment | null {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(property.value);
  const zone = zoneOf(feed, parameterOf(property, 'TZID'));
  if (match === null || zone === null) return null;
  const [, year, month, day, hour, minute = '0', second = '0', isUtc] = match;
  const wall = utcMs(Number(year), Number(month), Number(day), Number(hour ?? 0), Number(minute), Number(second));
  const clock = moved.clock(isUtc === undefined ? zone : 'UTC');
  return { ms: clock.instantOf(wall), wall, clock, isDay: hour === undefined };
}

/** Returns how long an event lasts by the wall clock: a day of the calendar without an end lasts a day. */
function durationOf(
  moved: Moved,
  feed: Feed,
  { wall, clock, isDay }: Moment,
  dtend: Property | undefined,
  duration: Property | undefined,
): number | null {
  if (dtend !== undefined) {
    const end = momentOf(moved, feed, dtend);
    if (end === null) return null;
    return (end.clock === clock ? end.wall : clock.wallOf(end.ms)) - wall;
  }
  if (duration === undefined) return isDay ? DAY_MS : null;
  const match = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(duration.value);
  if (match === null) return null;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part?: string) => Number(part ?? 0));
  return (weeks * 7 + days) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}

/** Limit on the part of an attendee that is read for a mail address. */
const ADDRESS_LENGTH_MAX = 1_000;

/** Returns the people of an event by the mail addresses of attendees, else of its text. */
function peopleOf(moved: Moved, properties: readonly Property[]): string[] {
  const attendees = properties.filter(
    (property) => property.name === 'ATTENDEE' && parameterOf(property, 'PARTSTAT').toUpperCase() !== 'DECLINED',
  );
  const attending = attendees.flatMap((property) => {
    const email = /mailto:([^\s]+@[^\s]+)/i.exec(property.value.slice(0, ADDRESS_LENGTH_MAX))?.[1];
    return email === undefined ? [] : [{ email, name: parameterOf(property, 'CN') || email }];
  });
  const inText = properties
    .filter(({ name }) => name === 'SUMMARY' || name === 'DESCRIPTION')
    .flatMap(({ value }) => value.match(/(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w/g) ?? []);
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

function dutiesOf(event: CalendarEvent, from: number, to: number): Duty[] {
  const { clock, recurrence, start, durationMs, people, added, excluded } = event;
  const single = [...(recurrence === null ? [start] : []), ...added].map(({ ms, wall, clock: written }) => ({
    from: ms,
    to: clock.instantOf((written === clock ? wall : clock.wallOf(ms)) + durationMs),
  }));
  const repeated = recurrence === null ? [] : walkEvents(recurrence, clock, from, to);
  return [...single, ...repeated]
    .filter((time) => !excluded.has(time.from) && time.to > from && time.from < to)
    .map((time) => ({ from: time.from, to: time.to, people, level: 0 }));
}
