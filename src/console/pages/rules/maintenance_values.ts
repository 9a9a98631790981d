import type { InputOf, ResultOf } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';

export type MaintenanceWindow = ResultOf<'list_maintenance'>['windows'][number];

/** Maintenance window while it is edited. Times are those of fields, in its zone; an empty start is now. */
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

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

export const TARGETS: Readonly<Record<MaintenanceValues['target'], string>> = {
  service: 'A service',
  rule: 'A rule',
  label: 'Rules that select a label',
};

export const MAINTENANCE_LABELS: Readonly<Record<keyof MaintenanceValues, string>> = {
  name: 'What for',
  target: 'Keeps quiet',
  serviceId: 'Service',
  ruleId: 'Rule',
  labelName: 'Label',
  labelValue: 'Value',
  timezone: 'Time zone',
  repeats: 'How often',
  startsAt: 'From',
  endsAt: 'Until',
  weekdays: 'On',
  startTime: 'At',
  minutes: 'For',
};

/** Formats a value of the form for people. */
export function shownValue(field: string, value: unknown, stored: MaintenanceWindow | null): string {
  if (field === 'repeats') return value === true ? 'every week' : 'once';
  if (field === 'target') return Object.entries(TARGETS).find(([kind]) => kind === value)?.[1] ?? '';
  if (field === 'minutes') return `${String(value)} min`;
  if (field === 'weekdays' && Array.isArray(value))
    return value.map((day) => DAYS[Number(day) - 1]).join(', ') || 'none';
  if (field === 'serviceId' || field === 'ruleId') {
    const isStored = value === (field === 'serviceId' ? stored?.serviceId : stored?.ruleId);
    return value === undefined || value === null
      ? 'none'
      : isStored
        ? (stored?.targetName ?? 'that was deleted')
        : 'the one you chose';
  }
  const text = typeof value === 'string' ? isolateBidi(value).replace('T', field.endsWith('sAt') ? ' ' : 'T') : '';
  return text === '' ? 'empty' : text;
}

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

/** Converts the values to the request; null while something is missing. Untouched times stay exact, to the second. */
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

/** Returns the missing fields, by the paths that the server has for them. */
export function missingIn(values: MaintenanceValues): Record<string, string> {
  const { name, target, serviceId, ruleId, labelName, labelValue, repeats, endsAt, weekdays, startTime } = values;
  return {
    ...(name.trim() === '' && { name: 'Say what it is for' }),
    ...(target === 'service' && serviceId === undefined && { 'target.serviceId': 'Choose a service' }),
    ...(target === 'rule' && ruleId === undefined && { 'target.ruleId': 'Choose a rule' }),
    ...(target === 'label' && labelName.trim() === '' && { 'target.label.name': 'Name the label' }),
    ...(target === 'label' && labelValue.trim() === '' && { 'target.label.value': 'Say which value' }),
    ...(!repeats && endsAt === '' && { endsAt: 'Say when it ends' }),
    ...(repeats && weekdays.length === 0 && { 'recurrence.weekdays': 'Choose at least one day' }),
    ...(repeats && startTime === '' && { 'recurrence.startTime': 'Say when it begins' }),
    ...(repeats && !(Number(values.minutes) > 0) && { 'recurrence.minutes': 'Say how long it lasts' }),
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

/** Converts to the value of a `datetime-local` field, in this zone. */
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
