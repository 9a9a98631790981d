import type { AlertFilter, Comparison, FilterText, FilterTime } from '#modules/alerts/decide/alert_filter.ts';
import { storable } from '#modules/alerts/decide/alert_links.ts';
import { severityOf } from '#modules/alerts/decide/alert_event.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { timeOf } from '#ingest/protocols/alerts/json_reading.ts';
import { type AppError, invalidInput } from '#kernel/errors.ts';

const QUERY_LENGTH_MAX = 1_000;
/** Conditions and brackets of one query. */
const TERMS_MAX = 50;

const STATUSES: Readonly<Record<string, readonly IncidentStatus[]>> = {
  open: ['triggered', 'acknowledged'],
  closed: ['resolved'],
};

const TEXTS: Readonly<Record<string, FilterText>> = {
  message: 'title',
  alias: 'key',
  source: 'tool',
  entity: 'entity',
  description: 'description',
};

const TIMES: Readonly<Record<string, FilterTime>> = {
  createdat: 'firstSeenAt',
  updatedat: 'lastSeenAt',
  lastoccuredat: 'lastSeenAt',
  lastoccurredat: 'lastSeenAt',
};

const KNOWN =
  'status, acknowledged, isSeen, priority, tag, message, alias, source, entity, description, alertId, tinyId, count, createdAt, updatedAt, lastOccurredAt';

/** Reads a search query of Opsgenie. Throws `invalid_input` for what it does not know. */
export function readQuery(text: string): AlertFilter | null {
  if (text.length > QUERY_LENGTH_MAX) throw notRead(`is longer than ${QUERY_LENGTH_MAX} characters`);
  const tokens = tokensOf(storable(text));
  if (tokens.length === 0) return null;
  return new QueryReader(tokens).read();
}

interface Token {
  readonly kind: 'word' | 'quoted' | 'operator' | '(' | ')';
  readonly text: string;
  /** Whether nothing stands between it and the token before. */
  readonly isAdjacent: boolean;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /(\s*)(?:"((?:[^"\\]|\\.)*)"|([()])|(<=|>=|[:=<>])|([^\s()"<>=:]+))/gy;
  for (;;) {
    const from = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) {
      if (text.slice(from).trim() !== '') throw notRead(`cannot be read at character ${from + 1}`);
      return tokens;
    }
    const [, space, quoted, bracket, operator, word = ''] = match;
    const isAdjacent = space === '';
    if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted.replaceAll(/\\(.)/g, '$1'), isAdjacent });
    else if (bracket !== undefined) tokens.push({ kind: bracket === '(' ? '(' : ')', text: bracket, isAdjacent });
    else if (operator !== undefined) tokens.push({ kind: 'operator', text: operator, isAdjacent });
    else tokens.push({ kind: 'word', text: word, isAdjacent });
  }
}

/** Condition of one field, for each value that is written for it. */
type OfValue = (value: Token) => AlertFilter;

class QueryReader {
  readonly #tokens: readonly Token[];
  #next = 0;
  #terms = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  read(): AlertFilter {
    const filter = this.#any(null);
    const left = this.#tokens[this.#next];
    if (left !== undefined) throw notRead(`cannot be read from "${left.text}" on`);
    return filter;
  }

  #any(ofValue: OfValue | null): AlertFilter {
    const of = [this.#all(ofValue)];
    while (this.#takeWord('OR')) of.push(this.#all(ofValue));
    const [only] = of;
    return of.length === 1 && only !== undefined ? only : { kind: 'any', of };
  }

  /** Conditions without a word between them belong together. */
  #all(ofValue: OfValue | null): AlertFilter {
    const of = [this.#not(ofValue)];
    for (;;) {
      const next = this.#tokens[this.#next];
      if (next === undefined || next.kind === ')' || isWord(next, 'OR')) break;
      this.#takeWord('AND');
      of.push(this.#not(ofValue));
    }
    const [only] = of;
    return of.length === 1 && only !== undefined ? only : { kind: 'all', of };
  }

  #not(ofValue: OfValue | null): AlertFilter {
    this.#terms += 1;
    if (this.#terms > TERMS_MAX) throw notRead(`has more than ${TERMS_MAX} conditions`);
    if (this.#takeWord('NOT')) return { kind: 'not', of: this.#not(ofValue) };
    const token = this.#take();
    if (token.kind === '(') {
      const inner = this.#any(ofValue);
      if (this.#take().kind !== ')') throw notRead('lacks a closing bracket');
      return inner;
    }
    const isKeyword = isWord(token, 'AND') || isWord(token, 'OR');
    if (isKeyword || (token.kind !== 'word' && token.kind !== 'quoted')) {
      throw notRead(`cannot be read at "${token.text}"`);
    }
    if (ofValue !== null) return ofValue(token);
    const operator = this.#tokens[this.#next];
    if (operator?.kind !== 'operator') return anyText(token);
    this.#next += 1;
    const condition = conditionOf(token.text, operator.text);
    if (this.#tokens[this.#next]?.kind === '(') return this.#not(condition);
    return condition(this.#value());
  }

  /** A value without quotes goes on to the next space or bracket: times and aliases have colons of their own. */
  #value(): Token {
    const first = this.#take();
    if (first.kind !== 'word' && first.kind !== 'quoted') throw notRead(`lacks a value before "${first.text}"`);
    if (first.kind === 'quoted') return first;
    let { text } = first;
    for (;;) {
      const next = this.#tokens[this.#next];
      if (next?.isAdjacent !== true || (next.kind !== 'operator' && next.kind !== 'word')) return { ...first, text };
      this.#next += 1;
      text += next.text;
    }
  }

  #takeWord(word: string): boolean {
    if (!isWord(this.#tokens[this.#next], word)) return false;
    this.#next += 1;
    return true;
  }

  #take(): Token {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw notRead('ends too soon');
    this.#next += 1;
    return token;
  }
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text === word;
}

function anyText({ text }: Token): AlertFilter {
  const fields = ['title', 'key', 'description', 'entity', 'tool'] as const;
  return {
    kind: 'any',
    of: [
      ...fields.map((field) => ({ kind: 'text', field, pattern: text, isWhole: false }) as const),
      { kind: 'tag', pattern: text },
    ],
  };
}

function conditionOf(written: string, operator: string): OfValue {
  const name = written.toLowerCase();
  const is = (operator === ':' ? '=' : operator) as Comparison;
  const needsEqual = (condition: OfValue): OfValue => {
    if (is !== '=') throw notRead(`compares ${written} with ${operator}; use : or =`);
    return condition;
  };
  switch (name) {
    case 'status':
      return needsEqual(({ text }) => ({ kind: 'status', among: among(STATUSES, written, text) }));
    case 'acknowledged':
      return needsEqual(({ text }) => whether(written, text, { kind: 'status', among: ['acknowledged'] }));
    case 'isseen':
      return needsEqual(({ text }) => whether(written, text, { kind: 'status', among: ['acknowledged', 'resolved'] }));
    case 'priority':
      return needsEqual(({ text }) => priority(written, text));
    case 'tag':
    case 'tags':
      return needsEqual(({ text }) => ({ kind: 'tag', pattern: text }));
    case 'alertid':
    case 'id':
    case 'tinyid':
      return needsEqual(({ text }) => ({ kind: 'id', id: text }));
    case 'count':
      return ({ text }) => ({ kind: 'occurrences', is, count: countOf(written, text) });
    default: {
      const field = Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
      if (field !== undefined) {
        return needsEqual(({ text }) => ({ kind: 'text', field, pattern: text, isWhole: field === 'key' }));
      }
      const time = Object.hasOwn(TIMES, name) ? TIMES[name] : undefined;
      if (time === undefined) throw notRead(`names the field ${written}, which is not known here; known are ${KNOWN}`);
      return ({ text }) => {
        const at = timeOf(withMonthFirst(text)) ?? timeOf(`${withMonthFirst(text)}T00:00:00Z`);
        if (at === null) throw notRead(`compares ${written} with no time: ${text}`);
        return { kind: 'time', field: time, is, at };
      };
    }
  }
}

function among<Value>(
  values: Readonly<Record<string, readonly Value[]>>,
  name: string,
  text: string,
): readonly Value[] {
  const meaning = Object.hasOwn(values, text.toLowerCase()) ? values[text.toLowerCase()] : undefined;
  if (meaning === undefined)
    throw notRead(`compares ${name} with ${text}; it is one of ${Object.keys(values).join(', ')}`);
  return meaning;
}

function whether(name: string, text: string, condition: AlertFilter): AlertFilter {
  if (!/^(true|false)$/i.test(text)) throw notRead(`compares ${name} with ${text}; it is true or false`);
  return /^true$/i.test(text) ? condition : { kind: 'not', of: condition };
}

/** P5 is shown for the level below the one that P4 stands for, and stored like it. */
function priority(name: string, text: string): AlertFilter {
  const level = /^P[1-5]$/i.test(text) ? severityOf(text) : null;
  if (level === null) throw notRead(`compares ${name} with ${text}; it is one of P1 to P5`);
  return { kind: 'severity', among: /^P5$/i.test(text) ? ['info', 'debug'] : [level] };
}

function countOf(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw notRead(`compares ${name} with ${text}, which is no number`);
  return Number(text);
}

/** Opsgenie writes days as `20-11-2026`. */
function withMonthFirst(text: string): string {
  const day = /^(\d{1,2})-(\d{1,2})-(\d{4})(?:T(.+))?$/.exec(text);
  if (day === null) return text;
  const [, date = '', month = '', year, time] = day;
  return `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}${time === undefined ? '' : `T${time}`}`;
}

function notRead(message: string): AppError {
  return invalidInput([{ path: 'query', message }]);
}
