import { FAR_FUTURE } from '#kernel/time.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import type { OverrideInFile } from '#modules/configuration/decide/file.ts';
import { horizonLayers } from './compile_layers.ts';
import { momentInFile, uniqueName } from './moved.ts';
import { HOUR_MS, LAYERS_MAX } from './pattern.ts';
import { compareTimelines, momentOf, ourShifts, tile } from './proof.ts';
import { append, type Stretch } from './timeline.ts';

/** Limit on the overrides of a schedule in the file. */
const OVERRIDES_MAX = 10_000;

/** A schedule of the file while it is made. */
interface Draft {
  readonly zone: string;
  readonly layers: readonly LayerInFile[];
  readonly overrides: readonly OverrideInFile[];
}

/** A draft that says a timeline. */
interface Written extends Draft {
  /** Forms that it took; none: the draft said it before. */
  readonly forms: readonly string[];
  /** Minutes in which it says something else, because changes of hands within an hour are rounded. */
  readonly minutesRounded: number;
}

/**
 * Makes a draft say a timeline, which tiles its time: one person by overrides, several by layers above all others, and
 * nobody by a pause of all layers. Returns null where that takes more layers or overrides than a schedule has.
 */
export function writeTimeline(draft: Draft, timeline: readonly Stretch[], clock: ZoneClock): Written | null {
  const { zone } = draft;
  let { layers, overrides } = draft;
  const differences = differencesOf(timeline, draft, clock);
  const several = differences.filter(({ people }) => people.length > 1);
  const nobody = differences.filter(({ people }) => people.length === 0);
  const forms: string[] = [];
  for (const stretch of [...several, ...nobody]) overrides = cutOut(overrides, stretch, clock);
  if (nobody.length > 0) {
    // An override of one layer names it, and its second part has another name.
    if (overrides.some(({ layer }) => layer !== undefined)) return null;
    for (const pause of nobody) {
      layers = paused(layers, pause, clock);
      if (layers.length > LAYERS_MAX) return null;
    }
    forms.push(nobody.length === 1 ? 'a pause of all layers' : `${nobody.length} pauses of all layers`);
  }
  const base = { zone, layers, overrides };
  if (several.length === 0) return writeSingle(base, timeline, clock, forms);
  const ways =
    several.length <= LAYERS_MAX - layers.length
      ? [[several]]
      : [byMinuteOfHour(several, timeline, clock), [inWholeHours(several, clock)]];
  let best: Written | null = null;
  for (const groups of ways) {
    const above = layersOfGroups(groups, layers, clock);
    if (above === null) continue;
    const form = above.length === 1 ? 'a layer above the others' : `${above.length} layers above the others`;
    const written = writeSingle({ ...base, layers: [...layers, ...above] }, timeline, clock, [...forms, form]);
    if (written !== null && written.minutesRounded < (best?.minutesRounded ?? Infinity)) best = written;
    if (best?.minutesRounded === 0) break;
  }
  return best;
}

/** Makes a draft that lacks single people only say a timeline; null where that takes too many overrides. */
function writeSingle(
  draft: Draft,
  timeline: readonly Stretch[],
  clock: ZoneClock,
  forms: readonly string[],
): Written | null {
  const single = differencesOf(timeline, draft, clock).filter(({ people }) => people.length === 1);
  const overrides = [
    ...draft.overrides,
    ...single.map(({ people: [person = ''], ...stretch }) => ({ person, ...timesInFile(stretch, clock) })),
  ];
  if (overrides.length > OVERRIDES_MAX) return null;
  const rest = differencesOf(timeline, { ...draft, overrides }, clock);
  const form = single.length === 1 ? 'an override' : `${single.length} overrides`;
  return {
    ...draft,
    overrides,
    forms: single.length > 0 ? [...forms, form] : forms,
    minutesRounded: Math.round(rest.reduce((sum, stretch) => sum + stretch.to - stretch.from, 0) / 60_000),
  };
}

/** Returns layers that say groups of stretches, each with changes whole hours apart; null if there is no room for them. */
function layersOfGroups(
  groups: readonly (readonly Stretch[])[],
  others: readonly LayerInFile[],
  clock: ZoneClock,
): readonly LayerInFile[] | null {
  const layers: LayerInFile[] = [];
  for (const group of groups) {
    const window = { from: group.at(0)?.from ?? 0, to: group.at(-1)?.to ?? 0 };
    const above = horizonLayers(tile(group, window), clock, [...others, ...layers]);
    layers.push(...above.layers);
    if (above.until < window.to || others.length + layers.length > LAYERS_MAX) return null;
  }
  return layers;
}

/** Returns the times of a timeline at which a draft says something else, with the people of the timeline. */
export function differencesOf(timeline: readonly Stretch[], { zone, ...draft }: Draft, clock: ZoneClock): Stretch[] {
  const [from, to] = [timeline.at(0)?.from ?? 0, timeline.at(-1)?.to ?? 0];
  const ours = ourShifts({ timezone: zone, ...draft }, clock, from, to);
  const differences: Stretch[] = [];
  for (const { theirs: people, ...difference } of compareTimelines(timeline, ours, { from, to }).differences)
    append(differences, { from: difference.from, to: difference.to, people });
  return differences;
}

/**
 * Returns the stretches in groups, each with changes at one minute of the hour, the largest first. A stretch that begins
 * and ends at different ones is in both groups, for as many hours as it lasts. One below an hour is lengthened to one,
 * into time in which somebody is on call if it can be.
 */
function byMinuteOfHour(
  stretches: readonly Stretch[],
  timeline: readonly Stretch[],
  clock: ZoneClock,
): readonly (readonly Stretch[])[] {
  const [since, until] = [timeline.at(0)?.from, timeline.at(-1)?.to];
  const mannedEnds = new Set(timeline.filter(({ people }) => people.length > 0).map(({ to }) => to));
  const parts = stretches.flatMap(({ from, to, people }) => {
    const [start, end] = [clock.wallOf(from), clock.wallOf(to)];
    // Layers begin and end at any minute: the edges of the timeline need no turns.
    if (from === since) return [{ minute: end % HOUR_MS, people, from, to }];
    if (to === until) return [{ minute: start % HOUR_MS, people, from, to }];
    const lasting = Math.max(1, Math.floor((end - start) / HOUR_MS)) * HOUR_MS;
    const first = { minute: start % HOUR_MS, people, from, to: clock.instantOf(start + lasting) };
    const last = { minute: end % HOUR_MS, people, from: clock.instantOf(end - lasting), to };
    if (end - start < HOUR_MS) return mannedEnds.has(from) ? [last] : [first];
    return first.minute === last.minute ? [first] : [first, last];
  });
  return [...Map.groupBy(parts, ({ minute }) => minute).values()].toSorted((a, b) => b.length - a.length);
}

/**
 * Returns the stretches with changes at whole hours of the wall clock: each begins earlier and ends later, so that nobody
 * who is on call is left out.
 */
function inWholeHours(stretches: readonly Stretch[], clock: ZoneClock): readonly Stretch[] {
  let before = -Infinity;
  return stretches.flatMap(({ from, to, people }) => {
    const start = Math.max(before, clock.instantOf(Math.floor(clock.wallOf(from) / HOUR_MS) * HOUR_MS));
    before = Math.max(start, clock.instantOf(Math.ceil(clock.wallOf(to) / HOUR_MS) * HOUR_MS));
    return before > start ? [{ from: start, to: before, people }] : [];
  });
}

interface Time {
  readonly from: number;
  readonly to: number;
}

function timesInFile({ from, to }: Time, clock: ZoneClock): Pick<OverrideInFile, 'startsAt' | 'endsAt'> {
  return {
    startsAt: momentInFile(clock, from),
    endsAt: momentInFile(clock, Math.min(to, FAR_FUTURE.epochMilliseconds)),
  };
}

/** Returns the overrides without what they say in a time. */
function cutOut(overrides: readonly OverrideInFile[], { from, to }: Time, clock: ZoneClock): OverrideInFile[] {
  return overrides.flatMap((override) => {
    const [start, end] = [momentOf(override.startsAt, clock), momentOf(override.endsAt, clock)];
    if (end <= from || start >= to) return [override];
    const parts = [
      { from: start, to: from },
      { from: to, to: end },
    ].filter((part) => part.to > part.from);
    return parts.map((part) => ({ ...override, ...timesInFile(part, clock) }));
  });
}

/** Returns the layers with a pause: each that speaks before and after is two, whose turns count from the same start. */
function paused(layers: readonly LayerInFile[], { from, to }: Time, clock: ZoneClock): LayerInFile[] {
  const names = layers.map(({ name }) => name);
  return layers.flatMap((layer) => {
    const start = Math.max(momentOf(layer.startsAt, clock), momentOf(layer.activeFrom ?? layer.startsAt, clock));
    const end = layer.endsAt === undefined ? Infinity : momentOf(layer.endsAt, clock);
    if (end <= from || start >= to) return [layer];
    const parts: LayerInFile[] = [];
    if (start < from) parts.push({ ...layer, endsAt: momentInFile(clock, from) });
    if (end > to) {
      const name = parts.length === 0 ? layer.name : uniqueName(layer.name, names);
      names.push(name);
      parts.push({ ...layer, name, activeFrom: momentInFile(clock, to) });
    }
    return parts;
  });
}
