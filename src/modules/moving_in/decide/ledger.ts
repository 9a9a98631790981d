/** Verdicts on an item, from the best to the worst. */
export const VERDICTS = ['exact', 'compiled', 'horizon', 'frozen', 'refused'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** Object that was read from the other tool, with its verdict. */
export interface MovedItem {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** Sentences; empty where nothing has to be said. */
  readonly reason: string;
  readonly todo: string;
}

/** Limit on the sentences that one item collects. */
const SENTENCES_MAX = 20;

export class Item {
  readonly kind: string;
  readonly id: string;
  name: string;
  verdict: Verdict | null = null;
  /** Null while there are none: most items have nothing to say. */
  reasons: Set<string> | null = null;
  todos: Set<string> | null = null;

  constructor(kind: string, id: string, name: string) {
    this.kind = kind;
    this.id = id;
    this.name = name;
  }

  /** Passes a verdict; of several the worst counts, and every reason is kept. */
  judge(verdict: Verdict, reason = '', todo = ''): void {
    if (this.verdict === null || VERDICTS.indexOf(verdict) > VERDICTS.indexOf(this.verdict)) this.verdict = verdict;
    this.reasons = withSentence(this.reasons, reason);
    this.todos = withSentence(this.todos, todo);
  }

  refuse(reason: string, todo = ''): void {
    this.judge('refused', reason, todo);
  }
}

/**
 * Record of everything that was read, each object once however often the other tool names it, with the worst verdict
 * that was passed on it. An object without a verdict is refused: nothing is dropped silently.
 */
export class Ledger {
  readonly #items = new Map<string, Item>();

  /** Records that an item was read. The first name that is not empty stays. */
  see(kind: string, id: string, name: string): Item {
    const seen = this.#items.get(`${kind} ${id}`);
    if (seen === undefined) {
      const item = new Item(kind, id, name);
      this.#items.set(`${kind} ${id}`, item);
      return item;
    }
    if (seen.name === '') seen.name = name;
    return seen;
  }

  /** Returns an item that was seen. */
  item(kind: string, id: string): Item {
    const item = this.#items.get(`${kind} ${id}`);
    if (item === undefined) throw new Error(`a verdict on ${kind} ${id}, which was not read`);
    return item;
  }

  verdictOf(kind: string, id: string): Verdict | null {
    return this.#items.get(`${kind} ${id}`)?.verdict ?? null;
  }

  items(): MovedItem[] {
    return [...this.#items.values()].map(({ kind, id, name, verdict, reasons, todos }) => ({
      kind,
      id,
      name,
      verdict: verdict ?? 'refused',
      reason: verdict === null ? 'Nothing here reads this kind.' : [...(reasons ?? [])].join(' '),
      todo: [...(todos ?? [])].join(' '),
    }));
  }

  /** Counts what was read, by kind; the sum over the kinds is the number of items. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { kind } of this.#items.values()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }
}

function withSentence(sentences: Set<string> | null, sentence: string): Set<string> | null {
  if (sentence === '' || (sentences !== null && sentences.size >= SENTENCES_MAX)) return sentences;
  return (sentences ?? new Set<string>()).add(sentence);
}
