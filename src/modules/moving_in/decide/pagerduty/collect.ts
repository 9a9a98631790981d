import {
  isObject,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';

/** A schedule as one document tells of it. */
export interface RawSchedule {
  readonly path: string;
  readonly isDetail: boolean;
  readonly value: RawObject;
}

/** Answers of PagerDuty, sorted by what they tell of. */
export interface PagerDutyAnswers {
  readonly users: RawObject[];
  readonly teams: RawObject[];
  /** Members with the path of their document, which names the team. */
  readonly members: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly contactMethods: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly contactRules: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly schedules: RawSchedule[];
  readonly schedulesV3: RawSchedule[];
  readonly rotations: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly events: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly customShifts: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly overrides: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly policies: RawObject[];
  readonly services: RawObject[];
  readonly maintenance: RawObject[];
  /** Paths of documents that nothing here knows. */
  readonly unknown: string[];
  /** Lists whose last page says that there are more. */
  readonly incomplete: string[];
}

interface Page {
  readonly list: string;
  readonly path: string;
  readonly more: boolean;
}

const V3_PATH = /(^|[^a-z0-9])v3[^a-z0-9]/;

/** Sorts documents by their content. */
export function collectPagerDuty(documents: readonly RawDocument[]): PagerDutyAnswers {
  const answers: PagerDutyAnswers = {
    users: [],
    teams: [],
    members: [],
    contactMethods: [],
    contactRules: [],
    schedules: [],
    schedulesV3: [],
    rotations: [],
    events: [],
    customShifts: [],
    overrides: [],
    policies: [],
    services: [],
    maintenance: [],
    unknown: [],
    incomplete: [],
  };
  const pages: Page[] = [];
  for (const { path, value } of documents) {
    const body = Array.isArray(value) ? bodyOfList(value) : objectOf(value);
    if (body === null || !sortBody(answers, path, body)) {
      answers.unknown.push(path);
      continue;
    }
    const list = Object.keys(body).find((name) => Array.isArray(body[name]));
    if (list !== undefined && typeof body['more'] === 'boolean') pages.push({ list, path, more: body['more'] });
  }
  answers.incomplete.push(...incompleteLists(pages));
  return answers;
}

const LISTS: Record<string, string> = {
  user: 'users',
  team: 'teams',
  schedule: 'schedules',
  escalation_policy: 'escalation_policies',
  service: 'services',
  maintenance_window: 'maintenance_windows',
  override: 'overrides',
};

/** Turns a bare list of resources into the body that PagerDuty would send. */
function bodyOfList(values: readonly unknown[]): RawObject | null {
  const lists = Map.groupBy(
    values.filter((value) => isObject(value)),
    (value) => LISTS[textOf(value, 'type')] ?? '',
  );
  lists.delete('');
  return lists.size === 0 ? null : Object.fromEntries(lists);
}

function sortBody(answers: PagerDutyAnswers, path: string, body: RawObject): boolean {
  let isKnown = false;
  const take = (name: string, keep: (values: RawObject[]) => void): void => {
    const single = objectOf(body[name]);
    if (single === null && !Array.isArray(body[name])) return;
    isKnown = true;
    keep(single === null ? objectsOf(body[name]) : [single]);
  };
  const isV3 = V3_PATH.test(path);
  const sortSchedules = (isDetail: boolean) => (values: RawObject[]) => {
    for (const value of values) {
      const isShiftBased =
        Array.isArray(value['rotations']) ||
        textOf(value, 'type').includes('v3') ||
        (isV3 && !Array.isArray(value['schedule_layers']));
      (isShiftBased ? answers.schedulesV3 : answers.schedules).push({ path, isDetail, value });
    }
  };
  take('schedules', sortSchedules(false));
  take('schedule', sortSchedules(true));
  for (const name of ['users', 'user']) take(name, (values) => answers.users.push(...values));
  for (const name of ['teams', 'team']) take(name, (values) => answers.teams.push(...values));
  for (const name of ['escalation_policies', 'escalation_policy'])
    take(name, (values) => answers.policies.push(...values));
  for (const name of ['services', 'service']) take(name, (values) => answers.services.push(...values));
  for (const name of ['maintenance_windows', 'maintenance_window'])
    take(name, (values) => answers.maintenance.push(...values));
  take('members', (values) => answers.members.push({ path, values }));
  take('contact_methods', (values) => answers.contactMethods.push({ path, values }));
  take('notification_rules', (values) => answers.contactRules.push({ path, values }));
  take('overrides', (values) => answers.overrides.push({ path, values }));
  take('override', (values) => answers.overrides.push({ path, values }));
  for (const name of ['rotations', 'rotation']) take(name, (values) => answers.rotations.push({ path, values }));
  for (const name of ['events', 'event']) take(name, (values) => answers.events.push({ path, values }));
  for (const name of ['custom_shifts', 'custom_shift'])
    take(name, (values) => answers.customShifts.push({ path, values }));
  return isKnown;
}

/** Returns the lists of which a page says that more follow, and of which no page is the last. */
function incompleteLists(pages: readonly Page[]): string[] {
  const lists = Map.groupBy(pages, ({ list, path }) => `${list} ${path.replace(/[&?]?(and)?offset[-=]\d+/, '')}`);
  return [...lists.values()].flatMap(([first, ...others]) => {
    const isWhole = first === undefined || [first, ...others].some(({ more }) => !more);
    return isWhole ? [] : [first.list];
  });
}
