/** Parts of what somebody typed into the palette. */
export interface PaletteQuery {
  /** Words that name what is looked for. */
  readonly text: string;
  /** Whether they ask to put somebody on call: only people are looked for. */
  readonly isPutOnCall: boolean;
}

/** Reads what somebody typed: "put Dana on call" looks for Dana. */
export function readPaletteQuery(typed: string): PaletteQuery {
  const put = /^\s*put\s+(.+?)(?:\s+on(?:\s*-?\s*call?)?)?\s*$/i.exec(typed);
  return put === null ? { text: typed.trim(), isPutOnCall: false } : { text: put[1] ?? '', isPutOnCall: true };
}

/** Whether every word of the search occurs in one of the texts. */
export function matches(search: string, ...texts: readonly (string | undefined)[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
