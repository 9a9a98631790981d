import { FAR_FUTURE } from '#kernel/time.ts';
import { isoDateOf, isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import type { OverrideInFile } from '#modules/configuration/decide/file.ts';
import { compileLayers, HORIZON_DAYS, horizonLayers } from './compile_layers.ts';
import { isZone, momentInFile, type Moved, nameInFile, type RenderedTimeline } from './moved.ts';
import type { Verdict } from './ledger.ts';
import { LAYERS_MAX, type Pattern } from './pattern.ts';
import { tile } from './proof.ts';
import type { Stretch } from './timeline.ts';
import { differencesOf, writeTimeline } from './write_timeline.ts';

/** Days for which an override is written down that has no form of its own here. */
const WRITTEN_DAYS = 730;

/** A replacement that was read. */
export interface ReadOverride {
  readonly id: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Keys of the people, all on call together; empty: whoever the walk says, if anybody. */
  readonly people: readonly string[];
  /** Names of the patterns that it replaces; null: the whole schedule. */
  readonly patterns: readonly string[] | null;
}

/** A schedule that was read, with all that its documentation says of it. */
export interface ReadSchedule {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly teamIds: readonly string[];
  /**
   * Patterns of the schedule, or the reason why none express it, which follows "because": it is rendered then, as
   * overrides if they can express it.
   */
  readonly patterns: readonly Pattern[] | { readonly because: string; readonly asOverrides?: true };
  readonly overrides: readonly ReadOverride[];
  readonly rendered: readonly RenderedTimeline[];
  readonly walk: (from: number, to: number) => readonly Stretch[];
  /** End of what the other tool says, where it says no turns. */
  readonly until?: number;
}

/** Adds a schedule to the file in the best form that says it, and passes the verdicts on it and its overrides. */
export function addSchedule(moved: Moved, read: ReadSchedule): void {
  const { ledger, since } = moved;
  const { id, name } = read;
  const item = ledger.see('schedule', id, name);
  for (const override of read.overrides) ledger.see('override', override.id, override.name);
  if (!isZone(read.zone)) {
    const reason = read.zone === '' ? 'It has no time zone.' : `Nobody knows the time zone "${read.zone}".`;
    item.refuse(reason, `Give it an IANA zone such as Europe/Amsterdam in ${moved.tool.title}, and read again.`);
    for (const override of read.overrides) {
      ledger.item('override', override.id).refuse('Its schedule is refused.', 'Mend the schedule, and read again.');
    }
    return;
  }
  const clock = moved.clock(read.zone);
  const compiled = 'because' in read.patterns ? read.patterns : compileLayers(read.patterns, { clock, since });
  const isFeed = 'because' in read.patterns && read.patterns.asOverrides === true;
  let layers: readonly LayerInFile[] = [];
  let layerOf: ReadonlyMap<string, string> = new Map();
  let overrides: readonly OverrideInFile[] = [];
  let horizon: number | null = null;
  let verdict: Verdict = 'exact';
  if ('because' in compiled) {
    verdict = 'horizon';
    const last = moved.time.now + HORIZON_DAYS * DAY_MS;
    horizon = Math.min(last, Math.max(read.until ?? last, moved.time.now + DAY_MS));
    const timeline = tile(read.walk(since, horizon), { from: since, to: horizon });
    const inLayers = horizonLayers(timeline, clock);
    const isRounded =
      differencesOf(timeline, { zone: read.zone, layers: inLayers.layers, overrides }, clock).length > 0;
    const written = isFeed || isRounded ? writeTimeline({ zone: read.zone, layers, overrides }, timeline, clock) : null;
    if (written === null) ({ layers, until: horizon } = inLayers);
    else ({ layers, overrides } = written);
    const until = isoDateOf(horizon);
    item.judge(
      'horizon',
      `It is written down until ${until}, because ${compiled.because}.`,
      `Read again before ${until}, or make its layers by hand.`,
    );
  } else {
    ({ layers, layerOf } = compiled);
    if (!compiled.isDirect) {
      verdict = 'compiled';
      item.judge(
        'compiled',
        'Rotations that are on call together became layers that name all their people at each time.',
      );
    }
  }
  const context: OverrideContext = { moved, read, clock, layers, layerOf, isRendered: horizon !== null, overrides };
  if (!addOverrides(context)) {
    const because = `its overrides take more than the ${LAYERS_MAX} layers that a schedule has`;
    addSchedule(moved, { ...read, patterns: { because } });
    return;
  }
  ({ overrides } = context);
  const key = moved.key(id);
  const teamId = moved.teamFor(read.teamIds);
  // Overrides alone go onto whatever schedule has this name in this team.
  const isOnlyOverrides = isFeed && context.layers.length === 0;
  const kept = context.layers.length > 0 || isOnlyOverrides ? context.layers : [emptyLayer(clock, since)];
  const onCall = [
    ...kept.flatMap(({ turns }) => turns.flatMap(({ people }) => people)),
    ...overrides.map(({ person }) => person),
  ];
  for (const person of new Set(onCall)) moved.join(teamId, person);
  moved.schedules.set(id, {
    key,
    team: moved.teamKeyFor(read.teamIds),
    name: nameInFile(name, id),
    timezone: read.zone,
    ...(!isOnlyOverrides && { layers: [...kept] }),
    ...(overrides.length > 0 && { overrides: eachOnce(overrides) }),
  });
  if (read.teamIds.length > 0 && teamId === '') {
    item.judge(
      verdict === 'exact' ? 'compiled' : verdict,
      'Its team is not among those that were read; it is in a team of its own.',
      'Move it to the right team.',
    );
  } else item.judge(verdict);
  const refused = read.overrides.filter((override) => ledger.verdictOf('override', override.id) === 'refused');
  moved.proofs.push({ key, id, name, rendered: read.rendered, walk: read.walk, refused, horizon });
}

interface OverrideContext {
  readonly moved: Moved;
  readonly read: ReadSchedule;
  readonly clock: ZoneClock;
  readonly layerOf: ReadonlyMap<string, string>;
  /** Whether the layers were rendered, overrides included. */
  readonly isRendered: boolean;
  layers: readonly LayerInFile[];
  overrides: readonly OverrideInFile[];
}

/**
 * Adds the overrides to the layers and overrides of the file, and passes the verdicts on them. Returns false if they take
 * more layers than there are.
 */
function addOverrides(context: OverrideContext): boolean {
  const { moved, read, clock } = context;
  for (const override of read.overrides) {
    const { id, from, to, people } = override;
    const judge: Judge = (verdict, reason = '', todo = '') =>
      moved.ledger.item('override', id).judge(verdict, reason, todo);
    if (to <= from) judge('refused', 'It ends before it begins.', 'Nothing, if nobody expects it.');
    else if (to <= moved.since) judge('exact', `It ended at ${isoOf(to)}, so nothing is left to do.`);
    else if (from >= FAR_FUTURE.epochMilliseconds)
      judge('refused', 'It begins after the year 2200.', 'Correct its dates, and read again.');
    else if (people.some((person) => !moved.people.has(person))) {
      judge(
        'refused',
        'It names somebody who is not among the people that were read.',
        'Add the person, then the override by hand.',
      );
    } else if (context.isRendered) judge('horizon', 'It is part of the rendered schedule.');
    else {
      const layers = people.length === 1 ? layersOf(override, context) : null;
      const [person] = people;
      if (person === undefined || layers === null) {
        if (!judgeWritten(override, context, judge)) return false;
        continue;
      }
      const times = {
        startsAt: momentInFile(clock, from),
        endsAt: momentInFile(clock, Math.min(to, FAR_FUTURE.epochMilliseconds)),
      };
      context.overrides = [
        ...context.overrides,
        ...layers.map((layer) => ({ person, ...times, ...(layer !== null && { layer }) })),
      ];
      judge('exact');
    }
  }
  return true;
}

type Judge = (verdict: Verdict, reason?: string, todo?: string) => void;

/**
 * Returns the layers that an override replaces, null in the list for the schedule; null if no layers say it. An
 * override of a layer counts within its hours and its time only.
 */
function layersOf({ patterns, from, to }: ReadOverride, { read, layerOf }: OverrideContext): (string | null)[] | null {
  const all = 'because' in read.patterns ? [] : read.patterns;
  if (patterns === null || all.every(({ name }) => patterns.includes(name))) return [null];
  const layers = all
    .filter(({ name }) => patterns.includes(name))
    .map((pattern) => {
      const isAlways = pattern.hours === null && (pattern.from ?? from) <= from && (pattern.until ?? to) >= to;
      return isAlways ? layerOf.get(pattern.name) : undefined;
    });
  return layers.every((layer) => layer !== undefined) ? layers : null;
}

/**
 * Writes down what the tool says within the time of an override, where no single override here says it. Returns false if
 * that takes more layers than there are.
 */
function judgeWritten(override: ReadOverride, context: OverrideContext, judge: Judge): boolean {
  const { moved, read, clock } = context;
  const from = Math.max(override.from, moved.since);
  const to = Math.min(override.to, moved.time.now + WRITTEN_DAYS * DAY_MS);
  const draft = { zone: read.zone, layers: context.layers, overrides: context.overrides };
  if (to <= from) {
    const reason = `It begins more than ${WRITTEN_DAYS} days from now.`;
    judge('refused', reason, 'Read again before it begins, or enter it by hand.');
    return true;
  }
  const written = writeTimeline(draft, tile(read.walk(from, to), { from, to }), clock);
  if (written === null) return false;
  ({ layers: context.layers, overrides: context.overrides } = written);
  const until = isoDateOf(to);
  const { forms, minutesRounded } = written;
  if (to < override.to) judge('horizon', `It is written down until ${until} only.`, `Read again before ${until}.`);
  else if (forms.length === 0) judge('exact', 'Nothing more has to be written down for its time.');
  else judge('compiled', `It is written down as ${forms.join(' and ')}.`);
  if (minutesRounded > 0)
    judge('compiled', `${minutesRounded} minutes of it differ, because changes of hands within an hour are rounded.`);
  return true;
}

/** Leaves of equal overrides the last one, which lies over those between: a file that says one twice is refused. */
function eachOnce(overrides: readonly OverrideInFile[]): OverrideInFile[] {
  const lastFirst = overrides.toReversed().map((override) => [JSON.stringify(override), override] as const);
  return [...new Map(lastFirst).values()].toReversed();
}

/** A layer that puts nobody on call: a schedule has one at least. */
function emptyLayer(clock: ZoneClock, since: number): LayerInFile {
  const startsAt = momentInFile(clock, Math.floor(since / DAY_MS) * DAY_MS);
  return { name: 'Nobody', rotation: { every: 1, unit: 'weeks' }, turns: [], startsAt };
}
