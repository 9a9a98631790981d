import {
  isObject,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';

/** Something that a document told of, with its path, which may name what it belongs to. */
export interface Located {
  readonly path: string;
  readonly value: RawObject;
}

type Kind =
  | 'user'
  | 'team'
  | 'schedule'
  | 'shift'
  | 'finalShift'
  | 'chain'
  | 'step'
  | 'integration'
  | 'route'
  | 'contactRule'
  | 'swap'
  | 'other';

/** Answers of Grafana OnCall and of Grafana IRM, sorted by what they tell of. */
export interface OnCallAnswers extends Record<Kind, Located[]> {
  /** Documents with final shifts, which may have none. */
  readonly rendered: { readonly path: string; readonly values: readonly RawObject[] }[];
  readonly unknown: string[];
  readonly incomplete: string[];
}

const SCHEDULE_TYPES = new Set(['web', 'calendar', 'ical']);
const SHIFT_TYPES = new Set(['rolling_users', 'recurrent_event', 'single_event', 'override']);

export function collectOnCall(documents: readonly RawDocument[]): OnCallAnswers {
  const answers: OnCallAnswers = {
    user: [],
    team: [],
    schedule: [],
    shift: [],
    finalShift: [],
    chain: [],
    step: [],
    integration: [],
    route: [],
    contactRule: [],
    swap: [],
    other: [],
    rendered: [],
    unknown: [],
    incomplete: [],
  };
  const counts = new Map<string, { read: number; count: number }>();
  for (const { path, value } of documents) {
    const results = resultsOf(value);
    if (results === null) {
      answers.unknown.push(path);
      continue;
    }
    const kinds = results.map((result) => kindOf(result, path));
    if (path.includes('final_shifts') || kinds.includes('finalShift')) addRendered(answers, withoutPage(path), results);
    let isKnown = results.length === 0;
    for (const [index, result] of results.entries()) {
      const kind = kinds[index] ?? null;
      if (kind === null) continue;
      isKnown = true;
      answers[kind].push({ path, value: result });
    }
    if (!isKnown) answers.unknown.push(path);
    noteCount(counts, path, value, results.length);
  }
  for (const [list, { read, count }] of counts)
    if (read < count) answers.incomplete.push(`${list}: ${read} of ${count}`);
  return answers;
}

function withoutPage(path: string): string {
  return path.replace(/(?:and|[&?])?page[-=]\d+/, '');
}

/** Adds a page of final shifts to the other pages of the same answer. */
function addRendered(answers: OnCallAnswers, path: string, values: readonly RawObject[]): void {
  const before = answers.rendered.findIndex((rendered) => rendered.path === path);
  const earlier = before === -1 ? [] : (answers.rendered[before]?.values ?? []);
  answers.rendered.splice(before === -1 ? answers.rendered.length : before, before === -1 ? 0 : 1, {
    path,
    values: [...earlier, ...values],
  });
}

function noteCount(
  counts: Map<string, { read: number; count: number }>,
  path: string,
  value: unknown,
  length: number,
): void {
  const count = objectOf(value)?.['count'];
  if (typeof count !== 'number') return;
  const list = withoutPage(path);
  const counted = counts.get(list) ?? { read: 0, count };
  counts.set(list, { read: counted.read + length, count: Math.max(counted.count, count) });
}

function resultsOf(value: unknown): RawObject[] | null {
  if (Array.isArray(value)) return objectsOf(value);
  if (!isObject(value)) return null;
  if (Array.isArray(value['results'])) return objectsOf(value['results']);
  return [value];
}

function kindOf(value: RawObject, path: string): Kind | null {
  const has = (...names: readonly string[]): boolean => names.every((name) => value[name] !== undefined);
  const type = textOf(value, 'type');
  if (has('shift_start', 'shift_end')) return 'finalShift';
  if (has('swap_start', 'swap_end')) return 'swap';
  if (SHIFT_TYPES.has(type) && has('start')) return 'shift';
  if (SCHEDULE_TYPES.has(type) && has('name')) return 'schedule';
  if (has('escalation_chain_id', 'integration_id')) return 'route';
  if (has('escalation_chain_id', 'type')) return 'step';
  if (has('user_id', 'type')) return 'contactRule';
  if (has('username') && (has('email') || has('role'))) return 'user';
  if (has('default_route') || (has('type', 'link') && has('name'))) return 'integration';
  if (has('avatar_url', 'name') || (has('id', 'name') && /(^|[^a-z])teams?([^a-z]|$)/.test(path))) return 'team';
  if (has('id', 'name') && (path.includes('chain') || (has('team_id') && Object.keys(value).length <= 4)))
    return 'chain';
  return null;
}
