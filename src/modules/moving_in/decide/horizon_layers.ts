import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import { momentInFile, uniqueName } from '#modules/moving_in/decide/in_file.ts';
import { LAYERS_MAX, TURNS_MAX } from '#modules/moving_in/decide/merge_patterns.ts';
import { greatestDivisor, HOUR_MS } from '#modules/moving_in/decide/pattern.ts';
import type { Stretch } from '#modules/moving_in/decide/timeline.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

/** Days for which a schedule is rendered that no layers can say. */
export const HORIZON_DAYS = 180;

/** Time between two hand-overs beyond which no finer turns are needed. */
const TURN_MAX_MS = 7 * DAY_MS;

/** Layers that a timeline became; `until` is the end of what found a place. */
export interface Rendered {
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
