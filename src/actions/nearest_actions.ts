import { distance } from 'fastest-levenshtein';

import type { AnyAction } from '#actions/action_context.ts';

const NEAREST_MAX = 3;
const NAME_LENGTH_MAX = 60;

/** Strengths of verbs: the most that each does. A suggestion never does more than the verb that was written. */
const STRENGTHS = { reads: 0, answers: 1, changes: 2, ends: 3, deletes: 4 } as const;
type Strength = (typeof STRENGTHS)[keyof typeof STRENGTHS];

/** Verbs of actions with what callers write instead of them. */
const VERBS: readonly { readonly verb: string; readonly strength: Strength; readonly others: readonly string[] }[] = [
  {
    verb: 'list',
    strength: STRENGTHS.reads,
    others: ['ls', 'all', 'search', 'find', 'browse', 'fetch', 'show', 'count'],
  },
  {
    verb: 'get',
    strength: STRENGTHS.reads,
    others: ['read', 'show', 'fetch', 'describe', 'view', 'inspect', 'lookup', 'check', 'retrieve'],
  },
  { verb: 'query', strength: STRENGTHS.reads, others: ['get', 'read', 'fetch', 'chart', 'graph', 'plot', 'aggregate'] },
  { verb: 'who', strength: STRENGTHS.reads, others: ['get', 'whois', 'show', 'current'] },
  {
    verb: 'acknowledge',
    strength: STRENGTHS.answers,
    others: ['ack', 'take', 'claim', 'silence', 'mute', 'snooze', 'pause'],
  },
  { verb: 'create', strength: STRENGTHS.changes, others: ['new', 'make', 'add', 'insert', 'register', 'declare'] },
  { verb: 'add', strength: STRENGTHS.changes, others: ['create', 'invite', 'insert', 'assign', 'join'] },
  {
    verb: 'update',
    strength: STRENGTHS.changes,
    others: ['edit', 'set', 'change', 'modify', 'rename', 'patch', 'put', 'configure', 'enable', 'disable'],
  },
  { verb: 'enable', strength: STRENGTHS.changes, others: ['activate', 'start', 'add', 'on'] },
  {
    verb: 'set',
    strength: STRENGTHS.changes,
    others: ['update', 'change', 'mark', 'edit', 'ignore', 'resolve', 'close', 'reopen'],
  },
  { verb: 'disable', strength: STRENGTHS.ends, others: ['deactivate', 'stop', 'off'] },
  { verb: 'resolve', strength: STRENGTHS.ends, others: ['close', 'fix', 'finish', 'end', 'complete'] },
  { verb: 'delete', strength: STRENGTHS.deletes, others: ['remove', 'drop', 'destroy', 'rm', 'purge', 'erase'] },
  { verb: 'remove', strength: STRENGTHS.deletes, others: ['delete', 'drop', 'kick', 'leave'] },
  { verb: 'rotate', strength: STRENGTHS.deletes, others: ['renew', 'regenerate', 'reset', 'revoke', 'refresh'] },
];
/** Strength of a verb by itself, where several actions share it. */
const OWN_STRENGTHS: ReadonlyMap<string, Strength> = new Map([
  ...VERBS.toReversed().flatMap(({ strength, others }) => others.map((other): [string, Strength] => [other, strength])),
  ...VERBS.map(({ verb, strength }): [string, Strength] => [verb, strength]),
  ['close', STRENGTHS.ends],
  ['resolve', STRENGTHS.ends],
]);
/** Number of letters by which a misspelt word is still the same. */
const LETTERS_OFF = 2;

/**
 * Returns up to three actions that may be meant by a name, the nearest first, and none that does more than the name
 * asks for: `ack_incident` is `acknowledge_incident` and never `resolve_incident`.
 */
export function nearestActions(written: string, actions: readonly AnyAction[]): AnyAction[] {
  const name = written.slice(0, NAME_LENGTH_MAX);
  const asked = wordsOf(name);
  const allowed = strengthOf(asked, name, actions);
  return actions
    .map((action) => ({ action, score: scoreOf(asked, action) }))
    .filter(({ action, score }) => score >= 0.5 && strengthOfAction(action) <= allowed)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, NEAREST_MAX)
    .map(({ action }) => action);
}

/** Returns lower-case words in the singular: `listAlertRules` is `list`, `alert`, `rule`. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '' && word !== 'tocsin' && word !== 'mcp')
    .map((word) => (word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word));
}

function strengthOfAction({ name, effect }: AnyAction): Strength {
  if (effect === 'read') return STRENGTHS.reads;
  if (effect === 'delete') return STRENGTHS.deletes;
  return OWN_STRENGTHS.get(wordsOf(name)[0] ?? '') ?? STRENGTHS.changes;
}

/** Returns the strength of the first verb, or of the action whose name was misspelt; if neither, that of reading. */
function strengthOf(asked: readonly string[], name: string, actions: readonly AnyAction[]): Strength {
  const verb = asked.find((word) => OWN_STRENGTHS.has(word)) ?? asked.flatMap((word) => misspeltVerb(word) ?? [])[0];
  if (verb !== undefined) return OWN_STRENGTHS.get(verb) ?? STRENGTHS.reads;
  const near = actions.find((action) => distance(name.toLowerCase(), action.name) <= LETTERS_OFF);
  return near === undefined ? STRENGTHS.reads : strengthOfAction(near);
}

function misspeltVerb(word: string): string | undefined {
  if (word.length < 5) return undefined;
  return VERBS.map(({ verb }) => verb).find((verb) => verb.length >= 5 && distance(word, verb) <= LETTERS_OFF);
}

/** Returns a score from 0 to 1: the same verb counts a third, the same things the rest. */
function scoreOf(asked: readonly string[], action: AnyAction): number {
  const also = (action.aliases ?? []).map((other) => likeness(asked, wordsOf(other)) * 0.98);
  const [verb = '', ...things] = wordsOf(action.name);
  const isVerb = asked.some((word) => word === verb || alike(word, verb) > 0.7);
  const isLike = VERBS.some(
    (candidate) => candidate.verb === verb && asked.some((word) => candidate.others.includes(word)),
  );
  const others = asked.filter((word) => !OWN_STRENGTHS.has(word));
  return Math.max(likeness(others, things) * 0.66 + (isVerb ? 0.34 : isLike ? 0.3 : 0), ...also);
}

/** Returns how much two sets of words have in common, misspelt ones too. */
function likeness(some: readonly string[], others: readonly string[]): number {
  if (some.length === 0 || others.length === 0) return 0;
  const best = (word: string, among: readonly string[]) => Math.max(...among.map((other) => alike(word, other)));
  const [there, back] = [
    some.reduce((sum, word) => sum + best(word, others), 0) / some.length,
    others.reduce((sum, word) => sum + best(word, some), 0) / others.length,
  ];
  return (there + back) / 2;
}

function alike(a: string, b: string): number {
  if (a === b) return 1;
  const share = 1 - distance(a, b) / Math.max(a.length, b.length);
  return share >= 0.7 ? share : 0;
}
