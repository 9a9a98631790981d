import { expect } from 'vitest';

import type { MovedItem } from '#modules/moving_in/decide/ledger.ts';
import type { RawDocument } from '#modules/moving_in/decide/raw.ts';
import { finish, type MoveInReport } from '#modules/moving_in/decide/report.ts';
import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { ConfigurationFile, type ScheduleInFile } from '#modules/configuration/decide/file.ts';
import { resourceSteps } from '#modules/configuration/decide/resources_of_file.ts';
import { finish as finishSteps } from '#kernel/cooperative_task.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { ourShifts } from '#modules/moving_in/decide/proof.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';

/** Instant at which answers are read. */
export const NOW = Date.parse('2026-06-15T10:20:00Z');

export interface Result {
  readonly file: ConfigurationFile;
  readonly report: MoveInReport;
}

export function read(tool: string, documents: readonly RawDocument[], proofFrom: string | null = null): Result {
  const moved = MOVE_IN_TOOLS[tool]!.read(documents, {
    now: NOW,
    proofFrom: proofFrom === null ? null : Date.parse(`${proofFrom}T00:00:00Z`),
  });
  if (moved === null) throw new Error(`nothing of ${tool} was read`);
  const result = finish(moved);
  // Whatever was read, "tocsin config" takes the file.
  expect([
    ...findFaults(ConfigurationFile, result.file),
    ...finishSteps(resourceSteps(result.file, () => false)).faults,
  ]).toEqual([]);
  return result;
}

/** Names of those on call at an instant by the file, in order; `nobody` when nobody is. */
export function onCall({ file }: Result, at: string, index = 0): string {
  const schedule: ScheduleInFile = file.schedules![index]!;
  const ms = Date.parse(at);
  const people = ourShifts(schedule, new ZoneClock(schedule.timezone), ms, ms + 60_000)[0]!.people;
  const names = people.map((key) => file.people!.find((person) => person.key === key)!.name);
  return names.length === 0 ? 'nobody' : names.toSorted().join(' and ');
}

export function item({ report }: Result, kind: string, id: string): MovedItem {
  const matchingItems = report.items.filter((one) => one.kind === kind && one.id === id);
  if (matchingItems.length !== 1) throw new Error(`${matchingItems.length} items ${kind} ${id}`);
  return matchingItems[0]!;
}

export const allEqual = ({ report }: Result): boolean =>
  report.proof.length > 0 && report.proof.every(({ minutes, equal }) => minutes === equal);

const PEOPLE = ['Ada', 'Bo', 'Cy', 'Di'];

/** Users of PagerDuty: Ada is `UADA`. */
export const pagerDutyUsers: RawDocument = {
  path: 'users.json',
  value: {
    users: PEOPLE.map((name) => ({
      id: `U${name.toUpperCase()}`,
      type: 'user',
      name,
      email: `${name.toLowerCase()}@example.com`,
      role: 'user',
      time_zone: 'Europe/Berlin',
    })),
    more: false,
  },
};

export interface LayerFields {
  readonly id?: string;
  readonly name?: string;
  readonly start?: string;
  readonly end?: string | null;
  readonly rotation_virtual_start?: string;
  readonly rotation_turn_length_seconds?: number;
  readonly restrictions?: readonly object[];
  readonly users?: readonly string[];
}

export function layer({ users = ['UADA'], ...fields }: LayerFields = {}): object {
  return {
    id: 'L1',
    name: 'Layer 1',
    start: '2026-01-05T08:00:00Z',
    end: null,
    rotation_virtual_start: '2026-01-05T08:00:00Z',
    rotation_turn_length_seconds: 604_800,
    restrictions: [],
    users: users.map((id) => ({ user: { id, type: 'user_reference', summary: id } })),
    ...fields,
  };
}

export function schedule(layers: readonly object[], fields: object = {}): RawDocument {
  return {
    path: 'schedules-psched.json',
    value: {
      schedule: {
        id: 'PSCHED',
        name: 'Primary',
        type: 'schedule',
        time_zone: 'UTC',
        teams: [],
        schedule_layers: layers,
        ...fields,
      },
    },
  };
}

/** Users of Opsgenie: Ada is `ada`. */
export const opsgenieUsers: RawDocument = {
  path: 'v2-users.json',
  value: {
    data: PEOPLE.map((name) => ({
      id: name.toLowerCase(),
      username: `${name.toLowerCase()}@example.com`,
      fullName: name,
      role: { name: 'User' },
      timeZone: 'Europe/Berlin',
    })),
  },
};

export function rotation(fields: object = {}): object {
  return {
    id: 'rot1',
    name: 'Rot1',
    startDate: '2026-01-05T08:00:00Z',
    endDate: null,
    type: 'weekly',
    length: 1,
    participants: [{ type: 'user', id: 'ada' }],
    timeRestriction: null,
    ...fields,
  };
}

export function opsgenieSchedule(rotations: readonly object[], timezone = 'UTC'): RawDocument {
  return {
    path: 'v2-schedules-ogsched.json',
    value: { data: { id: 'ogsched', name: 'Primary', timezone, enabled: true, rotations } },
  };
}

/** Users of Grafana OnCall: Ada is `UADA`. */
export const onCallUsers: RawDocument = {
  path: 'users.json',
  value: {
    count: PEOPLE.length,
    next: null,
    results: PEOPLE.map((name) => ({
      id: `U${name.toUpperCase()}`,
      username: name,
      email: `${name.toLowerCase()}@example.com`,
      role: 'user',
      timezone: 'UTC',
      teams: [],
    })),
  },
};

export function onCallSchedule(shifts: readonly object[], fields: object = {}): RawDocument[] {
  const ids = shifts.map((_, index) => `OSHIFT${index}`);
  return [
    {
      path: 'schedules.json',
      value: {
        count: 1,
        next: null,
        results: [
          {
            id: 'SPRIMARY',
            name: 'Primary',
            type: 'calendar',
            team_id: null,
            time_zone: 'UTC',
            shifts: ids,
            ...fields,
          },
        ],
      },
    },
    {
      path: 'on_call_shifts.json',
      value: {
        count: ids.length,
        next: null,
        results: shifts.map((shift, index) => ({
          id: ids[index],
          name: `shift ${index}`,
          level: 0,
          time_zone: null,
          ...shift,
        })),
      },
    },
  ];
}
