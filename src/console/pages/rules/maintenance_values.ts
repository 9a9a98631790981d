import type { InputOf, ResultOf } from '#console/api/actions.ts';

export type MaintenanceWindow = ResultOf<'list_maintenance'>['windows'][number];

/** A maintenance window while it is edited. Times are those of fields, in its zone; an empty start is now. */
export interface MaintenanceValues {
  readonly name: string;
  readonly target: 'service' | 'rule' | 'label';
  readonly serviceId: string | undefined;
  readonly ruleId: string | undefined;
  readonly labelName: string;
  readonly labelValue: string;
  readonly timezone: string;
  readonly repeats: boolean;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly weekdays: readonly number[];
  readonly startTime: string;
  readonly minutes: number | string;
}

export const ZONES = Intl.supportedValuesOf('timeZone');

export function newMaintenance(target: Partial<MaintenanceValues> = {}): MaintenanceValues {
  return {
    name: '',
    target: 'service',
    serviceId: undefined,
    ruleId: undefined,
    labelName: '',
    labelValue: '',
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    repeats: false,
    startsAt: '',
    endsAt: '',
    weekdays: [],
    startTime: '02:00',
    minutes: 60,
    ...target,
  };
}

export function valuesOfMaintenance(window: MaintenanceWindow): MaintenanceValues {
  const { name, serviceId, ruleId, label, timezone, recurrence, startsAt, endsAt } = window;
  return newMaintenance({
    name,
    target: label !== null ? 'label' : ruleId !== null ? 'rule' : 'service',
    serviceId: serviceId ?? undefined,
    ruleId: ruleId ?? undefined,
    labelName: label?.name ?? '',
    labelValue: label?.value ?? '',
    timezone,
    repeats: recurrence !== null,
    startsAt: toZonedField(startsAt, timezone),
    endsAt: endsAt === null ? '' : toZonedField(endsAt, timezone),
    ...(recurrence !== null && {
      weekdays: recurrence.weekdays,
      startTime: recurrence.startTime,
      minutes: recurrence.minutes,
    }),
  });
}

/** What the server is given; null while something is missing. Times that were not touched stay exact, to the second. */
export function inputOfMaintenance(
  values: MaintenanceValues,
  edited: MaintenanceWindow | null = null,
): InputOf<'create_maintenance'> | null {
  const target = targetOf(values);
  const { name, timezone, repeats, startsAt, endsAt, weekdays, startTime } = values;
  const minutes = Number(values.minutes);
  if (target === null || name.trim() === '') return null;
  if (repeats ? weekdays.length === 0 || startTime === '' || !(minutes > 0) : endsAt === '') return null;
  return {
    name: name.trim(),
    target,
    timezone,
    ...(startsAt !== '' && { startsAt: exact(startsAt, timezone, edited?.startsAt ?? null) }),
    ...(endsAt !== '' && { endsAt: exact(endsAt, timezone, edited?.endsAt ?? null) }),
    ...(repeats && { recurrence: { weekdays: [...weekdays], startTime, minutes } }),
  };
}

function targetOf(values: MaintenanceValues): InputOf<'create_maintenance'>['target'] | null {
  const { target, serviceId, ruleId } = values;
  if (target === 'service') return serviceId === undefined ? null : { serviceId };
  if (target === 'rule') return ruleId === undefined ? null : { ruleId };
  const label = { name: values.labelName.trim(), value: values.labelValue.trim() };
  return label.name === '' || label.value === '' ? null : { label };
}

function exact(field: string, timezone: string, before: string | null): string {
  return before !== null && toZonedField(before, timezone) === field ? before : field;
}

/** The value of a `datetime-local` field, in this zone. */
export function toZonedField(at: string | number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(new Date(at));
  const of = (type: Intl.DateTimeFormatPartTypes): string => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}`;
}
