import type { OverrideInFile } from '#modules/configuration/decide/file.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import { horizonLayers } from '#modules/moving_in/decide/compile_layers.ts';
import { momentInFile, uniqueName } from '#modules/moving_in/decide/in_file.ts';
import { HOUR_MS, LAYERS_MAX } from '#modules/moving_in/decide/pattern.ts';
import { compareTimelines, momentOf, ourShifts, tile } from '#modules/moving_in/decide/proof.ts';
import { append, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { FAR_FUTURE } from '#kernel/time.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

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
  const [from, to] = [timeline.at(0)?.from ?? 0, timeline.at(-1)?.to ?? 0];
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
  if (several.length > 0) {
    const inTurns = several.length <= LAYERS_MAX - layers.length ? several : inWholeHours(several, clock);
    const window = { from: inTurns.at(0)?.from ?? from, to: inTurns.at(-1)?.to ?? to };
    const above = horizonLayers(tile(inTurns, window), clock, layers);
    if (above.until < window.to || layers.length + above.layers.length > LAYERS_MAX) return null;
    layers = [...layers, ...above.layers];
    forms.push(
      above.layers.length === 1 ? 'a layer above the others' : `${above.layers.length} layers above the others`,
    );
  }
  const single = differencesOf(timeline, { zone, layers, overrides }, clock).filter(
    ({ people }) => people.length === 1,
  );
  overrides = [
    ...overrides,
    ...single.map(({ people: [person = ''], ...stretch }) => ({ person, ...timesInFile(stretch, clock) })),
  ];
  if (overrides.length > OVERRIDES_MAX) return null;
  if (single.length > 0) forms.push(single.length === 1 ? 'an override' : `${single.length} overrides`);
  const rest = differencesOf(timeline, { zone, layers, overrides }, clock);
  const minutesRounded = Math.round(rest.reduce((sum, stretch) => sum + stretch.to - stretch.from, 0) / 60_000);
  return { zone, layers, overrides, forms, minutesRounded };
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
 * Returns the stretches with changes at whole hours of the wall clock, unless all are whole hours apart: each begins
 * earlier and ends later, so that nobody who is on call is left out.
 */
function inWholeHours(stretches: readonly Stretch[], clock: ZoneClock): readonly Stretch[] {
  const [first] = stretches.map(({ from }) => clock.wallOf(from));
  const isWhole = stretches.every((stretch) =>
    [stretch.from, stretch.to].every((edge) => (clock.wallOf(edge) - (first ?? 0)) % HOUR_MS === 0),
  );
  if (isWhole) return stretches;
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
