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

const KINDS = [
  'user',
  'team',
  'schedule',
  'rotation',
  'override',
  'timeline',
  'escalation',
  'forwarding',
  'contact',
  'contactRule',
  'routingRule',
  'integration',
  'maintenance',
  'alertPolicy',
] as const;

type Kind = (typeof KINDS)[number];

/** Answers of Opsgenie and JSM Operations, or files of a backup, sorted by what they tell of. */
export interface OpsgenieAnswers extends Record<Kind, Located[]> {
  readonly unknown: string[];
  /** Lists that name a further page which is not there. */
  readonly incomplete: string[];
}

/** Sorts documents by their content: answers with `data` or `values`, and the files of a backup, which are bare. */
export function collectOpsgenie(documents: readonly RawDocument[]): OpsgenieAnswers {
  const answers: OpsgenieAnswers = {
    user: [],
    team: [],
    schedule: [],
    rotation: [],
    override: [],
    timeline: [],
    escalation: [],
    forwarding: [],
    contact: [],
    contactRule: [],
    routingRule: [],
    integration: [],
    maintenance: [],
    alertPolicy: [],
    unknown: [],
    incomplete: [],
  };
  for (const { path, value } of documents) {
    const isKnown = sortDocument(answers, path, value);
    if (!isKnown) answers.unknown.push(path);
    noteIncomplete(answers, path, value);
  }
  return answers;
}

function noteIncomplete(answers: OpsgenieAnswers, path: string, value: unknown): void {
  const body = objectOf(value);
  const total = body?.['totalCount'];
  const data = body?.['data'];
  if (typeof total !== 'number' || !Array.isArray(data)) return;
  const kind = kindOf(objectsOf(data)[0] ?? {}, path);
  if (kind !== null && answers[kind].length < total && textOf(objectOf(body?.['paging']), 'next') !== '')
    answers.incomplete.push(`${kind} ${total}`);
}

function sortDocument(answers: OpsgenieAnswers, path: string, value: unknown): boolean {
  if (Array.isArray(value)) return sortList(answers, path, value);
  const body = objectOf(value);
  if (body === null) return false;
  for (const name of ['data', 'values', 'platformTeams']) {
    const inner = body[name];
    if (Array.isArray(inner)) return inner.length === 0 || sortList(answers, path, inner);
    if (isObject(inner)) return sortDocument(answers, path, inner);
  }
  let isKnown = false;
  const nested: readonly (readonly [string, Kind])[] = [
    ['scheduleOverrideList', 'override'],
    ['teamRoutingRules', 'routingRule'],
    ['notificationRuleList', 'contactRule'],
  ];
  for (const name of ['schedule', 'team', 'user', 'policy', 'integration'] as const) {
    const inner = objectOf(body[name]);
    const kind = inner === null ? null : kindOf(inner, path);
    if (inner === null || kind === null || textOf(body, 'startDate') !== '') continue;
    answers[kind].push({ path, value: inner });
    isKnown = true;
    for (const [list, listKind] of nested) {
      for (const item of objectsOf(body[list]))
        answers[listKind].push({ path: `${path}/${textOf(inner, 'id').toLowerCase()}`, value: item });
    }
  }
  if (isKnown) return true;
  const kind = kindOf(body, path);
  if (kind === null) return false;
  answers[kind].push({ path, value: body });
  return true;
}

function sortList(answers: OpsgenieAnswers, path: string, values: readonly unknown[]): boolean {
  let isKnown = values.length === 0;
  for (const value of objectsOf(values)) {
    const kind = kindOf(value, path);
    if (kind === null) continue;
    isKnown = true;
    answers[kind].push({ path, value });
  }
  return isKnown;
}

/** Returns what an object tells of, by the fields that only it has; null if it is nothing of Opsgenie's. */
function kindOf(value: RawObject, path: string): Kind | null {
  const has = (...names: readonly string[]): boolean => names.every((name) => value[name] !== undefined);
  if (has('finalTimeline') || has('baseTimeline')) return 'timeline';
  if (has('fromUser', 'toUser')) return 'forwarding';
  if (has('startDate', 'endDate') && (has('user') || has('responder') || has('alias'))) return 'override';
  if (Array.isArray(value['participants'])) return 'rotation';
  if (has('timezone') && (Array.isArray(value['rotations']) || has('enabled'))) return 'schedule';
  if (objectsOf(value['rules']).some((rule) => isObject(rule['recipient']))) return 'escalation';
  if (has('actionType')) return 'contactRule';
  if (has('method', 'to') || has('contactMethod', 'to')) return 'contact';
  if (has('notify') && (has('isDefault') || has('criteria') || has('order'))) return 'routingRule';
  if (has('username') && (has('fullName') || has('role') || has('verified') || has('timeZone'))) return 'user';
  if (has('accountId') && (has('emailAddress') || has('displayName'))) return 'user';
  if (has('time') && (has('status') || has('rules'))) return 'maintenance';
  if (has('teamId', 'teamName') || Array.isArray(value['members'])) return 'team';
  if (has('type', 'name') && (has('teamId') || has('ownerTeam') || path.includes('integration')))
    return path.includes('polic') ? 'alertPolicy' : 'integration';
  if (has('filter') && (has('policyDescription') || path.includes('polic'))) return 'alertPolicy';
  if (has('rules', 'name') && path.includes('escalation')) return 'escalation';
  return has('id', 'name') && path.includes('team') ? 'team' : null;
}
