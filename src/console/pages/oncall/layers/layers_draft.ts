import type { InputOf } from '#console/api/actions.ts';
import { toZoneField, type TurnDraft } from '#console/pages/oncall/schedule_draft.ts';
import { type HoursRow, hoursFault, rowsOf, windowsOf } from '#console/pages/oncall/layers/week_hours.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

type LayersInput = Pick<InputOf<'set_schedule_layers'>, 'timezone' | 'layers' | 'keepTurns'>;
type LayerInput = LayersInput['layers'][number];

export type RotationUnit = LayerInput['rotation']['unit'];

/** Layer as the editor holds it; times are local times of the schedule's zone. */
export interface LayerDraft {
  readonly key: number;
  /** Null for a new one. */
  readonly layerId: string | null;
  readonly name: string;
  readonly every: string;
  readonly unit: RotationUnit;
  readonly turns: readonly TurnDraft[];
  readonly startsAt: string;
  readonly endsAt: string;
  /** Hours of the week at which somebody of the layer is on call; null for always. */
  readonly hours: readonly HoursRow[] | null;
  readonly holidays: LayerInput['holidays'];
}

/** Schedule as the editor holds it; layers are the lowest first. */
export interface LayersDraft {
  readonly name: string;
  readonly timezone: string;
  readonly layers: readonly LayerDraft[];
  /** Whether present turns stay. */
  readonly keepTurns: boolean;
}

/** Returns the layers of a schedule; one that has only its rotation has one. */
export function layersOf(schedule: Pick<ShownSchedule, 'layers' | 'rotationConfig' | 'rotationType' | 'startAt'>) {
  const { layers, rotationConfig, rotationType, startAt } = schedule;
  if (layers !== undefined) return layers;
  const { userIds, shiftHours = 0 } = rotationConfig;
  return [
    {
      layerId: 'rotation',
      name: 'Rotation',
      rotation: lengthOf(shiftHours, rotationType),
      turns: userIds.map((userId) => ({ userIds: [userId] })),
      startsAt: startAt,
      activeFrom: null,
      endsAt: null,
      hours: null,
      holidays: null,
      keptUntil: null,
    },
  ];
}

function lengthOf(hours: number, type: 'daily' | 'weekly'): { every: number; unit: RotationUnit } {
  if (hours >= 1) return { every: hours, unit: 'hours' };
  return { every: 1, unit: type === 'daily' ? 'days' : 'weeks' };
}

export function layersDraftOf(schedule: ShownSchedule): LayersDraft {
  const { name, timezone } = schedule;
  return {
    name,
    timezone,
    keepTurns: true,
    layers: layersOf(schedule).map((layer, key) => ({
      key,
      layerId: layer.layerId,
      name: layer.name,
      every: String(layer.rotation.every),
      unit: layer.rotation.unit,
      turns: layer.turns.map(({ userIds }, turn) => ({ key: turn, userIds })),
      startsAt: toZoneField(Date.parse(layer.startsAt), timezone),
      endsAt: layer.endsAt === null ? '' : toZoneField(Date.parse(layer.endsAt), timezone),
      hours: layer.hours && rowsOf(layer.hours),
      holidays: layer.holidays,
    })),
  };
}

/** Returns a draft with a layer above all others, whose turns change hands when those of the rotation do. */
export function withLayer(
  draft: LayersDraft,
  now: number,
  { name, hours }: { readonly name: string; readonly hours: LayerDraft['hours'] } = {
    name: `Layer ${draft.layers.length + 1}`,
    hours: null,
  },
): LayersDraft {
  const key = 1 + Math.max(...draft.layers.map((layer) => layer.key));
  const layer: LayerDraft = {
    key,
    layerId: null,
    name,
    every: '1',
    unit: 'weeks',
    turns: [],
    startsAt: lastHandOver(draft, now),
    endsAt: '',
    hours,
    holidays: null,
  };
  return { ...draft, layers: [...draft.layers, layer] };
}

/** Returns the last time, up to now, that had the weekday and the time of the rotation's hand-over. */
function lastHandOver({ layers: [rotation], timezone }: LayersDraft, now: number): string {
  const today = toZoneField(now, timezone);
  const start = Date.parse(`${rotation?.startsAt ?? ''}Z`);
  const age = Date.parse(`${today}Z`) - start;
  return Number.isNaN(age) ? today : new Date(start + Math.floor(age / WEEK_MS) * WEEK_MS).toISOString().slice(0, 16);
}

/** Replaces the fields of one layer. */
export function withChanges(draft: LayersDraft, index: number, changes: Partial<LayerDraft>): LayersDraft {
  const layer = draft.layers[index];
  return layer === undefined ? draft : { ...draft, layers: draft.layers.with(index, { ...layer, ...changes }) };
}

/** Moves a layer by one place; the rotation stays the lowest. */
export function withLayerMoved(draft: LayersDraft, index: number, by: 1 | -1): LayersDraft {
  const [moved, passed] = [draft.layers[index], draft.layers[index + by]];
  if (moved === undefined || passed === undefined || index === 0 || index + by === 0) return draft;
  return { ...draft, layers: draft.layers.with(index, passed).with(index + by, moved) };
}

/** Converts the draft to the request. The exact start of a layer is kept while its field says the same. */
export function layersInput(draft: LayersDraft, schedule: ShownSchedule): LayersInput {
  const stored = new Map(layersOf(schedule).map((layer) => [layer.layerId, layer]));
  const shown = new Map(layersDraftOf(schedule).layers.map((layer) => [layer.layerId, layer]));
  return {
    timezone: draft.timezone.trim(),
    keepTurns: draft.keepTurns,
    layers: draft.layers.map((layer): LayerInput => {
      const before = layer.layerId === null ? undefined : stored.get(layer.layerId);
      const isSameStart = shown.get(layer.layerId)?.startsAt === layer.startsAt;
      return {
        ...(layer.layerId !== null && { layerId: layer.layerId }),
        name: layer.name.trim(),
        rotation: { every: Number(layer.every), unit: layer.unit },
        turns: layer.turns.map(({ userIds }) => ({ userIds: [...userIds] })),
        startsAt: isSameStart && before !== undefined ? before.startsAt : layer.startsAt,
        endsAt: layer.endsAt === '' ? null : layer.endsAt,
        hours: layer.hours && windowsOf(layer.hours),
        holidays: layer.holidays ?? null,
      };
    }),
  };
}

const EVERY_MAX = 10_000;
const WEEK_MS = 7 * 24 * 3_600_000;

/** Returns the faults of a draft by the path of the server's field; empty if there are none. */
export function layersFaults({ name, timezone, layers }: LayersDraft): Readonly<Record<string, string>> {
  const faults = layers.flatMap((layer, index) => {
    const { every, startsAt, turns, hours } = layer;
    const path = `layers[${index}]`;
    const isLength = /^\d{1,5}$/.test(every) && Number(every) >= 1 && Number(every) <= EVERY_MAX;
    const isUnmanned = index > 0 && turns.every(({ userIds }) => userIds.length === 0);
    return Object.entries({
      ...(layer.name.trim() === '' && { [`${path}.name`]: 'Enter a name.' }),
      ...(!isLength && { [`${path}.rotation`]: `Enter a whole number, from 1 to ${EVERY_MAX.toLocaleString()}.` }),
      ...(startsAt === '' && { [`${path}.startsAt`]: 'Enter a day and a time.' }),
      ...(isUnmanned && { [`${path}.turns`]: 'Add at least one person, or remove the layer.' }),
      ...(hours !== null && hoursFault(hours) !== null && { [`${path}.hours`]: hoursFault(hours) }),
    });
  });
  return {
    ...(name.trim() === '' && { name: 'Enter a name.' }),
    ...(timezone.trim() === '' && { timezone: 'Choose a time zone, for example Europe/Amsterdam.' }),
    ...Object.fromEntries(faults),
  };
}

export const LAYERS_LABELS: Record<keyof LayersDraft, string> = {
  name: 'Name',
  timezone: 'Time zone',
  layers: 'Layers',
  keepTurns: 'Present turns',
};

const UNIT_NAMES: Record<RotationUnit, readonly [one: string, several: string]> = {
  hours: ['hour', 'hours'],
  days: ['day', 'days'],
  weeks: ['week', 'weeks'],
  months: ['month', 'months'],
};

/** Returns the length of a turn as text: `every week`, `every 2 months`. */
export function turnLengthText({ every, unit }: { readonly every: number; readonly unit: RotationUnit }): string {
  if (unit === 'hours' && every % 168 === 0) return turnLengthText({ every: every / 168, unit: 'weeks' });
  if (unit === 'hours' && every % 24 === 0) return turnLengthText({ every: every / 24, unit: 'days' });
  const [singular, several] = UNIT_NAMES[unit];
  return every === 1 ? `every ${singular}` : `every ${every} ${several}`;
}
