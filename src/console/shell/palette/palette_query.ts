/** Action that somebody asks for, by the first word that they typed. */
export type Verb = 'put' | 'acknowledge' | 'resolve' | 'silence';

/** Parts of what somebody typed into the palette. */
export interface PaletteQuery {
  /** Words that name what is looked for. */
  readonly text: string;
  /** Action to take with it; null to open it. */
  readonly verb: Verb | null;
}

const VERBS: Readonly<Record<Verb, RegExp>> = {
  put: /^\s*put\s+(.+?)(?:\s+on(?:\s*-?\s*call?(?:\s.*)?)?)?\s*$/i,
  acknowledge: /^\s*ack(?:nowledge)?(?:\s+(.*?))?\s*$/i,
  resolve: /^\s*resolve(?:\s+(.*?))?\s*$/i,
  silence: /^\s*(?:silence|mute)(?:\s+(.*?))?\s*$/i,
};

/** Reads what somebody typed: "put Dana on call" looks for Dana, and "acknowledge 12" for the incident. */
export function readPaletteQuery(typed: string): PaletteQuery {
  for (const [verb, pattern] of Object.entries(VERBS)) {
    const read = pattern.exec(typed);
    if (read !== null) return { text: read[1] ?? '', verb: verb as Verb };
  }
  return { text: typed.trim(), verb: null };
}

/** Whether every word of the search occurs in one of the texts. */
export function matches(search: string, ...texts: readonly (string | undefined)[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
