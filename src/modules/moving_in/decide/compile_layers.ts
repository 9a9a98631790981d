import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import { hoursInFile, momentInFile, uniqueName } from './moved.ts';
import {
  greatestDivisor,
  haveCommonHours,
  HOUR_MS,
  LAYERS_MAX,
  mergePatterns,
  type Pattern,
  startOfTurn,
  turnAtWall,
  TURNS_MAX,
  WEEK_MS,
  WINDOWS_MAX,
} from '#modules/moving_in/decide/pattern.ts';
import { keyOfPeople, type Stretch } from '#modules/moving_in/decide/timeline.ts';

/** Layers of a schedule that say the same as the patterns. */
interface Compiled {
  readonly layers: readonly LayerInFile[];
  /** Whether each pattern became one layer of its own, with its name. */
  readonly isDirect: boolean;
  /** Names of the layers by the names of the patterns, of those that became layers of their own. */
  readonly layerOf: ReadonlyMap<string, string>;
}

interface CompileFailure {
  readonly because: string;
}

/** Beginning of the time that matters: what ended before is left out, and what began before needs no beginning. */
interface Setting {
  readonly clock: ZoneClock;
  readonly since: number;
}

/** Compiles patterns to layers, the lowest first, or says in the form that follows "because" why it cannot. */
export function compileLayers(patterns: readonly Pattern[], setting: Setting): Compiled | CompileFailure {
  const living = patterns.filter((pattern) => isAlive(pattern, setting.since)).map((pattern) => simplify(pattern));
  const levels = [...new Set(living.map(({ level }) => level))].toSorted((a, b) => a - b);
  const layers: LayerInFile[] = [];
  const layerOf = new Map<string, string>();
  let isDirect = true;
  for (const level of levels) {
    for (const group of groupsOf(living.filter((pattern) => pattern.level === level))) {
      const [only, ...others] = group;
      if (only === undefined) continue;
      const merged = others.length === 0 ? [only] : mergePatterns(group, setting.since);
      if ('because' in merged) return merged;
      for (const pattern of merged) {
        const layer = layerOfPattern(pattern, setting, layers);
        if ('because' in layer) return layer;
        layers.push(layer);
        if (others.length === 0) layerOf.set(pattern.name, layer.name);
      }
      if (others.length > 0) isDirect = false;
    }
  }
  if (layers.length > LAYERS_MAX)
    return { because: `it would take ${layers.length} layers, and a schedule has at most ${LAYERS_MAX}` };
  return { layers, isDirect, layerOf };
}

function isAlive({ until, turns, hours }: Pattern, since: number): boolean {
  return (until === null || until > since) && turns.some((turn) => turn.length > 0) && hours?.length !== 0;
}

/** Gives a pattern whose turns are all alike one turn of a week: when they change hands does not matter then. */
function simplify(pattern: Pattern): Pattern {
  const [first] = pattern.turns;
  if (first === undefined || pattern.turns.some((turn) => keyOfPeople(turn) !== keyOfPeople(first))) return pattern;
  const anchorWall = Math.floor(pattern.anchorWall / HOUR_MS) * HOUR_MS;
  return { ...pattern, turns: [first], length: { ms: WEEK_MS }, anchorWall };
}

/** Returns the patterns of one level in groups; those of different groups never hold at the same time. */
function groupsOf(patterns: readonly Pattern[]): Pattern[][] {
  let groups: Pattern[][] = [];
  for (const pattern of patterns) {
    const [touching, apart] = [
      groups.filter((group) => group.some((other) => overlap(pattern, other))),
      groups.filter((group) => !group.some((other) => overlap(pattern, other))),
    ];
    groups = [...apart, [...touching.flat(), pattern]];
  }
  return groups;
}

function overlap(a: Pattern, b: Pattern): boolean {
  const isApart =
    (a.until !== null && b.from !== null && a.until <= b.from) ||
    (b.until !== null && a.from !== null && b.until <= a.from);
  return !isApart && haveCommonHours(a.hours, b.hours);
}

/** Returns the layer for a pattern. One that begins within a turn counts its turns from before, and is silent until then. */
function layerOfPattern(
  pattern: Pattern,
  { clock, since }: Setting,
  others: readonly LayerInFile[],
): LayerInFile | CompileFailure {
  const rotation = rotationOf(pattern);
  if (rotation === null) return { because: `turns of "${pattern.name}" are no whole hours long` };
  if (pattern.turns.length > TURNS_MAX) return { because: `"${pattern.name}" has more than ${TURNS_MAX} turns` };
  if ((pattern.hours?.length ?? 0) > WINDOWS_MAX)
    return { because: `"${pattern.name}" has more than ${WINDOWS_MAX} windows of hours` };
  const from = pattern.from === null || pattern.from <= since ? null : pattern.from;
  const anchor = anchorBefore(pattern, clock.wallOf(from ?? since));
  const start = clock.instantOf(anchor.wall);
  return {
    name: uniqueName(
      pattern.name,
      others.map(({ name }) => name),
    ),
    rotation,
    turns: anchor.turns.map((people) => ({ people: [...people] })),
    startsAt: momentInFile(clock, start),
    ...(from !== null && from > start && { activeFrom: momentInFile(clock, from) }),
    ...(pattern.until !== null && { endsAt: momentInFile(clock, pattern.until) }),
    ...(pattern.hours !== null && { hours: hoursInFile(pattern.hours) }),
  };
}

/** Moves the beginning back by whole rounds, so that it is not after a time of the wall clock. */
function anchorBefore(pattern: Pattern, wall: number): { wall: number; turns: Pattern['turns'] } {
  if (pattern.anchorWall <= wall) return { wall: pattern.anchorWall, turns: pattern.turns };
  const turn = turnAtWall(pattern, wall);
  return { wall: startOfTurn(pattern, turn), turns: rotated(pattern.turns, turn) };
}

function rotated(turns: Pattern['turns'], by: number): Pattern['turns'] {
  const first = mod(by, turns.length);
  return [...turns.slice(first), ...turns.slice(0, first)];
}

function mod(a: number, b: number): number {
  return ((a % b) + b) % b;
}

function rotationOf({ length }: Pattern): LayerInFile['rotation'] | null {
  if ('months' in length) return { every: length.months, unit: 'months' };
  if (length.ms % WEEK_MS === 0) return { every: length.ms / WEEK_MS, unit: 'weeks' };
  if (length.ms % DAY_MS === 0) return { every: length.ms / DAY_MS, unit: 'days' };
  return length.ms > 0 && length.ms % HOUR_MS === 0 ? { every: length.ms / HOUR_MS, unit: 'hours' } : null;
}

/** Days for which a schedule is rendered that no layers can say. */
export const HORIZON_DAYS = 180;

/** Time between two hand-overs beyond which no finer turns are needed. */
const TURN_MAX_MS = 7 * DAY_MS;

/** Layers that a timeline became; `until` is the end of what found a place. */
interface Rendered {
  readonly layers: readonly LayerInFile[];
  readonly until: number;
}

/**
 * Writes a timeline as layers that follow each other: one for each stretch if there are few, else turns of the smallest
 * time between two changes, but of an hour at least. Time before the first change is a layer of its own where the
 * changes are whole hours apart only then.
 */
export function horizonLayers(
  stretches: readonly Stretch[],
  clock: ZoneClock,
  others: readonly LayerInFile[] = [],
): Rendered {
  const room = LAYERS_MAX - others.length;
  const last = stretches.at(-1);
  if (last === undefined) return { layers: [], until: 0 };
  const manned = stretches.filter(({ people }) => people.length > 0);
  if (manned.length <= room) {
    const layers: LayerInFile[] = [];
    for (const stretch of manned) layers.push(singleLayer(stretch, clock, [...others, ...layers]));
    return { layers, until: last.to };
  }
  const [first, ...rest] = stretches;
  if (first === undefined || unitOf(stretches, clock) % HOUR_MS === 0 || unitOf(rest, clock) % HOUR_MS !== 0) {
    return turnLayers(stretches, clock, others);
  }
  const begin = first.people.length > 0 ? [singleLayer(first, clock, others)] : [];
  const { layers, until } = turnLayers(rest, clock, [...others, ...begin]);
  return { layers: [...begin, ...layers], until };
}

function singleLayer({ from, to, people }: Stretch, clock: ZoneClock, others: readonly LayerInFile[]): LayerInFile {
  return {
    name: uniqueName(
      'Rendered',
      others.map(({ name }) => name),
    ),
    rotation: { every: 1, unit: 'weeks' },
    turns: [{ people: [...people] }],
    startsAt: momentInFile(clock, from),
    endsAt: momentInFile(clock, to),
  };
}

/** Returns the time that divides all times between two changes by the wall clock. */
function unitOf(stretches: readonly Stretch[], clock: ZoneClock): number {
  const [first] = stretches;
  const start = clock.wallOf(first?.from ?? 0);
  let unit = TURN_MAX_MS;
  for (const { from } of stretches) unit = greatestDivisor(unit, clock.wallOf(from) - start);
  return unit;
}

function turnLayers(stretches: readonly Stretch[], clock: ZoneClock, others: readonly LayerInFile[]): Rendered {
  const [first] = stretches;
  const last = stretches.at(-1);
  if (first === undefined || last === undefined) return { layers: [], until: 0 };
  const unit = Math.max(HOUR_MS, Math.floor(unitOf(stretches, clock) / HOUR_MS) * HOUR_MS);
  const layers: LayerInFile[] = [];
  let index = 0;
  let wall = clock.wallOf(first.from);
  while (layers.length + others.length < LAYERS_MAX && clock.instantOf(wall) < last.to) {
    const turns: { people: string[] }[] = [];
    const from = clock.instantOf(wall);
    while (turns.length < TURNS_MAX && clock.instantOf(wall) < last.to) {
      const at = clock.instantOf(wall);
      while ((stretches[index]?.to ?? Infinity) <= at) index += 1;
      turns.push({ people: [...(stretches[index]?.people ?? [])] });
      wall += unit;
    }
    layers.push({
      name: uniqueName(
        'Rendered',
        [...others, ...layers].map(({ name }) => name),
      ),
      rotation: { every: unit / HOUR_MS, unit: 'hours' },
      turns,
      startsAt: momentInFile(clock, from),
      endsAt: momentInFile(clock, Math.min(clock.instantOf(wall), last.to)),
    });
  }
  return { layers, until: Math.min(clock.instantOf(wall), last.to) };
}
