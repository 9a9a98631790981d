import { Temporal } from '#kernel/time.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import type { Fix } from '#modules/exceptions/decide/fix.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import { type Headline, headlineOf, titleOf } from '#modules/exceptions/decide/title.ts';
import { type EventDecision, onEventForGroup, worseLevel } from '#modules/exceptions/decide/triage.ts';

/** The part of an event that goes into its group. */
export interface Occurrence {
  readonly eventId: string;
  readonly headline: Headline;
  readonly level: Level;
  readonly at: Temporal.Instant;
  readonly receivedAt: Temporal.Instant;
  readonly release: string | null;
}

/** Stored state of a group: facts from its events, and the decisions of people. */
export interface GroupState {
  readonly title: string;
  readonly type: string | null;
  readonly culprit: string | null;
  readonly pattern: string | null;
  readonly level: Level;
  readonly status: GroupStatus;
  readonly statusChangedAt: Temporal.Instant;
  readonly resolvedInRelease: string | null;
  /** Release in which people say that it is fixed; null when they did not say. */
  readonly fix: Fix | null;
  /** Time when a new event last reopened it; null once a person has changed the status since. */
  readonly regressedAt: Temporal.Instant | null;
  readonly firstSeenAt: Temporal.Instant;
  readonly lastSeenAt: Temporal.Instant;
  /** Releases of the first and the last event that named one. */
  readonly firstRelease: string | null;
  readonly lastRelease: string | null;
}

export function toOccurrence(event: ExceptionEvent): Occurrence {
  const { eventId, level, at, receivedAt, release } = event;
  return { eventId, headline: headlineOf(event), level, at, receivedAt, release };
}

/**
 * Returns the group after one more event, and the classification of the event. The order and repetition of events do
 * not change the level or when the group was first and last seen; the pattern, and the title with it, only becomes more
 * general. An event reopens no group that was resolved while it waited in the queue, or after it was stored: then it was
 * sent again.
 */
export function onOccurrence(
  group: GroupState | null,
  seen: Occurrence,
  isStored = false,
): { readonly state: GroupState; readonly decision: EventDecision } {
  if (group === null) return { state: firstState(seen), decision: 'new' };
  const isOld = group.status === 'resolved' && (isStored || isBefore(seen.receivedAt, group.statusChangedAt));
  const decision = isOld ? 'known' : onEventForGroup(group, seen);
  const remembered = remember(group, seen);
  return { state: decision === 'regression' ? reopened(remembered, seen) : remembered, decision };
}

function firstState({ headline, level, at, receivedAt, release }: Occurrence): GroupState {
  const pattern = headline.message === null ? null : mergePattern(null, headline.message);
  return {
    title: titleOf({ ...headline, message: pattern }),
    type: headline.type,
    culprit: headline.place,
    pattern,
    level,
    status: 'unresolved',
    statusChangedAt: receivedAt,
    resolvedInRelease: null,
    fix: null,
    regressedAt: null,
    firstSeenAt: at,
    lastSeenAt: at,
    firstRelease: release,
    lastRelease: release,
  };
}

function remember(group: GroupState, seen: Occurrence): GroupState {
  const { message } = seen.headline;
  const pattern = message === null ? group.pattern : mergePattern(group.pattern, message);
  const isFirst = isBefore(seen.at, group.firstSeenAt);
  const isLast = !isBefore(seen.at, group.lastSeenAt);
  return {
    ...group,
    pattern,
    title: titleOf({ type: group.type, message: pattern, place: group.culprit }),
    level: worseLevel(group.level, seen.level),
    firstSeenAt: isFirst ? seen.at : group.firstSeenAt,
    lastSeenAt: isLast ? seen.at : group.lastSeenAt,
    firstRelease: (isFirst ? seen.release : null) ?? group.firstRelease ?? seen.release,
    lastRelease: (isLast ? seen.release : null) ?? group.lastRelease ?? seen.release,
  };
}

function reopened(group: GroupState, seen: Occurrence): GroupState {
  return {
    ...group,
    status: 'unresolved',
    statusChangedAt: seen.receivedAt,
    regressedAt: seen.receivedAt,
    resolvedInRelease: null,
    fix: null,
  };
}

function isBefore(a: Temporal.Instant, b: Temporal.Instant): boolean {
  return Temporal.Instant.compare(a, b) < 0;
}

/** Placeholder where the messages of one group differ. */
const WILDCARD = '<*>';

const MESSAGE_LENGTH_MAX = 400;
const TOKENS_MAX = 100;

/** A word (with inner dots, dashes and underscores) or any other character, with the blank before it if any. */
const TOKEN = / ?(?:<\*>|[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*|[^ ])/gu;

type Template = readonly string[];

/**
 * Extends the pattern of a group's messages, for showing only, such as `bad order <*>`, to one message more; `pattern`
 * is null for a new group. A message that it matches already changes nothing. Bounded, and cheap enough for every
 * event: it looks at 400 characters.
 */
export function mergePattern(pattern: string | null, message: string): string | null {
  const line = toLine(message);
  if (line === '' || (pattern !== null && standsFor(pattern, line))) return pattern;
  if (pattern === null) return line;
  const [before, added] = [tokensOf(pattern), tokensOf(line)];
  return covers(before, added) ? pattern : render(merge(before, added));
}

/** Whether the literal parts of the pattern stand in the line, in order, the first and last at its ends. */
function standsFor(pattern: string, line: string): boolean {
  const [first = '', ...rest] = pattern.split(WILDCARD);
  const last = rest.pop();
  if (last === undefined) return line === pattern;
  if (!line.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const index = line.indexOf(part, at);
    if (index === -1) return false;
    at = index + part.length;
  }
  return line.length - last.length >= at && line.endsWith(last);
}

/** Compares like `standsFor`, by token: a wildcard may stand for nothing, and the blank before it is then absent. */
function covers(template: Template, tokens: Template): boolean {
  const runs: string[][] = [[]];
  for (const token of template) {
    if (token.trim() === WILDCARD) runs.push([]);
    else runs.at(-1)?.push(token);
  }
  const first = runs.shift() ?? [];
  const last = runs.pop();
  if (!standAt(first, tokens, 0)) return false;
  if (last === undefined) return tokens.length === first.length;
  let at = first.length;
  for (const run of runs) {
    while (at + run.length <= tokens.length && !standAt(run, tokens, at)) at += 1;
    at += run.length;
    if (at > tokens.length) return false;
  }
  const lastAt = tokens.length - last.length;
  return lastAt >= at && standAt(last, tokens, lastAt);
}

function standAt(run: Template, tokens: Template, at: number): boolean {
  return run.every((token, index) => token === tokens[at + index]);
}

/** Returns the first line that says something, on one line. */
function toLine(message: string): string {
  const line = message.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  return line.trim().replaceAll(/\s+/g, ' ').slice(0, MESSAGE_LENGTH_MAX);
}

function tokensOf(text: string): Template {
  return (text.match(TOKEN) ?? []).slice(0, TOKENS_MAX);
}

function merge(a: Template, b: Template): Template {
  return a.length === b.length ? mergeInPlace(a, b) : mergeAligned(a, b);
}

/** Merges position by position, as Drain does. Associative and commutative, so the order of messages cannot matter. */
function mergeInPlace(a: Template, b: Template): Template {
  return a.map((token, index) => either(token, b[index] ?? ''));
}

function either(a: string, b: string): string {
  if (a === b) return a;
  return (leadingSpaceOf(a) === leadingSpaceOf(b) ? leadingSpaceOf(a) : '') + WILDCARD;
}

function leadingSpaceOf(token: string): string {
  return token.startsWith(' ') ? ' ' : '';
}

/** Merges along the longest common subsequence, in which a word weighs more than what stands between words. */
function mergeAligned(a: Template, b: Template): Template {
  const scores = alignmentScores(a, b);
  const score = (i: number, j: number): number => scores[i * (b.length + 1) + j] ?? 0;
  const merged: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const token = a[i];
    if (token !== undefined && token === b[j] && score(i, j) === score(i + 1, j + 1) + weightOf(token)) {
      merged.push(token);
      [i, j] = [i + 1, j + 1];
    } else {
      const skipsA = j >= b.length || (i < a.length && score(i + 1, j) >= score(i, j + 1));
      merged.push(leadingSpaceOf((skipsA ? token : b[j]) ?? '') + WILDCARD);
      [i, j] = skipsA ? [i + 1, j] : [i, j + 1];
    }
  }
  return merged;
}

/** Computes `scores[i * (b.length + 1) + j]`: the greatest weight of a common subsequence of a from i and b from j. */
function alignmentScores(a: Template, b: Template): Float64Array {
  const width = b.length + 1;
  const weights = a.map(weightOf);
  const scores = new Float64Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const token = a[i] ?? '';
      const matched = token === b[j] ? (scores[(i + 1) * width + j + 1] ?? 0) + (weights[i] ?? 0) : 0;
      const skipped = Math.max(scores[(i + 1) * width + j] ?? 0, scores[i * width + j + 1] ?? 0);
      scores[i * width + j] = Math.max(matched, skipped);
    }
  }
  return scores;
}

function weightOf(token: string): number {
  return /[\p{L}\p{N}]/u.test(token) ? 8 : 1;
}

/**
 * Renders a template. Wildcards with only punctuation or a blank between are one variable: `<*>@<*>.com`, `<*> <*>`.
 */
function render(template: Template): string {
  return template.join('').replaceAll(/<\*>(?:[ .,:;@/\\_+=#%&?-]{0,2}<\*>)+/g, WILDCARD);
}
