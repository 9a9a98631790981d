import { Session } from 'node:inspector';

/** A search by a regular expression, and what it found. */
export interface Search {
  readonly source: string;
  readonly flags: string;
  /** Index of the text that is searched. */
  readonly text: number;
  readonly from: number;
  /** Null without a match. */
  readonly found: { readonly index: number; readonly end: number } | null;
}

/** Work that was done: blocks of JavaScript that ran and characters that were searched, and its regular expressions. */
export interface Work {
  readonly count: number;
  readonly searches: readonly Search[];
  /** Texts of the searches, each once. */
  readonly texts: readonly string[];
}

/** A process that holds more of them has no memory left for the work. */
const SEARCHES_MAX = 1_000_000;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** Files whose work counts: all but those that count. */
const COUNTED = /^file:(?!.*\/test\/kit\/counting\/)/;

/** Counts what code does that is loaded after it, in a process that optimizes no code: optimized code is not counted. */
export class WorkCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  count(work: () => unknown): Work {
    const searches: Search[] = [];
    const texts = new Map<string, number>();
    const characters = { count: 0 };
    const restore = watchTexts(searches, texts, characters);
    this.#takeBlocks();
    try {
      work();
    } finally {
      restore();
    }
    return { count: this.#takeBlocks() + characters.count, searches, texts: [...texts.keys()] };
  }

  /** Blocks that ran since it was asked last. */
  #takeBlocks(): number {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Coverage;
    return result
      .filter(({ url }) => COUNTED.test(url))
      .flatMap(({ functions }) => functions)
      .flatMap(({ ranges }) => ranges)
      .reduce((sum, { count }) => sum + count, 0);
  }

  /** A session of the same thread answers at once. */
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    let fault: Error | null = null;
    this.#session.post(method, params, (error: Error | null, result?: object) => {
      fault = error;
      answer = result;
    });
    if (fault !== null) throw new Error(method, { cause: fault });
    return answer;
  }
}

/** Has each regular expression and each search in a text noted, until it is restored. */
function watchTexts(searches: Search[], texts: Map<string, number>, characters: { count: number }): () => void {
  const { exec } = RegExp.prototype;
  const { indexOf, includes, lastIndexOf } = String.prototype;
  Object.assign(RegExp.prototype, {
    exec(this: RegExp, text: string) {
      const from = this.global || this.sticky ? this.lastIndex : 0;
      const match = exec.call(this, text);
      const { source, flags } = this;
      const range = match === null ? null : { index: match.index, end: match.index + match[0].length };
      if (searches.length >= SEARCHES_MAX) throw new Error(`more than ${SEARCHES_MAX} searches`);
      const place = texts.get(text) ?? texts.size;
      texts.set(text, place);
      searches.push({ source, flags, text: place, from, found: range });
      return match;
    },
  });
  Object.assign(String.prototype, {
    indexOf(this: string, wanted: string, from = 0) {
      const at = indexOf.call(this, wanted, from);
      characters.count += (at === -1 ? this.length : at) - Math.min(from, this.length) + 1;
      return at;
    },
    lastIndexOf(this: string, wanted: string, from = Infinity) {
      const at = lastIndexOf.call(this, wanted, from);
      characters.count += Math.min(from, this.length) - at;
      return at;
    },
    includes(this: string, wanted: string, from = 0) {
      return this.indexOf(wanted, from) !== -1;
    },
  });
  return () => {
    Object.assign(RegExp.prototype, { exec });
    Object.assign(String.prototype, { indexOf, includes, lastIndexOf });
  };
}
