/** Verdicts on an item, from the best to the worst. */
export const VERDICTS = ['exact', 'compiled', 'horizon', 'frozen', 'refused'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** One thing that was read, and what became of it. */
export interface MovedItem {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** Sentences; empty where nothing has to be said. */
  readonly reason: string;
  readonly todo: string;
}

interface Entry {
  readonly kind: string;
  readonly id: string;
  name: string;
  verdict: Verdict | null;
  /** Null while there are none: most items have nothing to say. */
  reasons: Set<string> | null;
  todos: Set<string> | null;
}

/** Limit on the sentences that one item collects. */
const SENTENCES_MAX = 20;

/**
 * Everything that was read, each item once however often the other tool told of it, with the worst verdict that was
 * passed on it. What nobody passed a verdict on is refused: nothing is dropped silently.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>();

  /** Records that an item was read. The first name that is not empty stays. */
  see(kind: string, id: string, name: string): void {
    const entry = this.#entries.get(`${kind} ${id}`);
    if (entry === undefined) {
      this.#entries.set(`${kind} ${id}`, { kind, id, name, verdict: null, reasons: null, todos: null });
    } else if (entry.name === '') entry.name = name;
  }

  /** Passes a verdict on an item that was seen; of several the worst counts, and every reason is kept. */
  judge(kind: string, id: string, verdict: Verdict, reason = '', todo = ''): void {
    const entry = this.#entries.get(`${kind} ${id}`);
    if (entry === undefined) throw new Error(`a verdict on ${kind} ${id}, which was not read`);
    if (entry.verdict === null || VERDICTS.indexOf(verdict) > VERDICTS.indexOf(entry.verdict)) entry.verdict = verdict;
    entry.reasons = withSentence(entry.reasons, reason);
    entry.todos = withSentence(entry.todos, todo);
  }

  /** Records an item and passes a verdict on it. */
  add(kind: string, id: string, name: string, verdict: Verdict, reason = '', todo = ''): void {
    this.see(kind, id, name);
    this.judge(kind, id, verdict, reason, todo);
  }

  verdictOf(kind: string, id: string): Verdict | null {
    return this.#entries.get(`${kind} ${id}`)?.verdict ?? null;
  }

  items(): MovedItem[] {
    return [...this.#entries.values()].map(({ kind, id, name, verdict, reasons, todos }) => ({
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
    for (const { kind } of this.#entries.values()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }
}

function withSentence(sentences: Set<string> | null, sentence: string): Set<string> | null {
  if (sentence === '' || (sentences !== null && sentences.size >= SENTENCES_MAX)) return sentences;
  return (sentences ?? new Set<string>()).add(sentence);
}
