import { type Options, parseRegExp, type Term } from '#test/kit/counting/regexp_parser.ts';

/** More than any pattern of the product needs for the texts of a test: a pattern beyond them is exponential. */
const STEPS_MAX = 200_000_000;
const nativeExec = RegExp.prototype.exec;

type Matcher = (at: number) => boolean;

/** Steps that a backtracking engine takes for a search, and where it finds the match: characters compared, and choices undone. */
export interface Search {
  readonly steps: number;
  /** Null without a match. */
  readonly found: { readonly index: number; readonly end: number } | null;
}

const compiled = new Map<string, (text: string, from: number) => Search>();

/** Searches the text as the pattern's engine would, without its optimizations, and counts. */
export function searchInSteps({ source, flags }: Pick<RegExp, 'source' | 'flags'>, text: string, from: number): Search {
  const key = `${flags}/${source}`;
  let search = compiled.get(key);
  if (search === undefined) compiled.set(key, (search = compile(source, flags)));
  return search(text, from);
}

function compile(source: string, flags: string): (text: string, from: number) => Search {
  const { options: all, names } = parseRegExp(source);
  const isUnicode = /[uv]/.test(flags);
  const isMultiline = flags.includes('m');
  let text = '';
  let steps = 0;
  let matchEnd = 0;
  let captures: (readonly [from: number, to: number] | undefined)[] = [];
  const starts: number[] = [];
  const count = (): void => {
    steps += 1;
    if (steps > STEPS_MAX) throw new Error(`more than ${STEPS_MAX} steps for /${source}/${flags}`);
  };

  /** Length of the character that ends (-1) or begins (1) at a place, 0 if none does or it is not one of these. */
  const widthOf = (isOne: (code: number) => boolean, at: number, step: 1 | -1): number => {
    steps += 1;
    let from = step === 1 ? at : at - 1;
    if (from < 0 || from >= text.length) return 0;
    if (isUnicode && step === -1 && from > 0 && text.codePointAt(from - 1)! > 0xff_ff) from -= 1;
    const code = isUnicode ? text.codePointAt(from)! : text.charCodeAt(from);
    return isOne(code) ? (code > 0xff_ff ? 2 : 1) : 0;
  };

  const compileRepeatedCharacter = (
    isOne: (code: number) => boolean,
    { min, max, isGreedy }: Term & { kind: 'repeat' },
    step: 1 | -1,
    next: Matcher,
  ): Matcher => {
    const greedy: Matcher = (begin) => {
      let at = begin;
      let times = 0;
      const widths: number[] = [];
      while (times < max) {
        const width = widthOf(isOne, at, step);
        if (width === 0) break;
        if (isUnicode) widths.push(width);
        at += step * width;
        times += 1;
      }
      for (; times >= min; times -= 1) {
        if (next(at)) return true;
        count();
        at -= step * (widths.pop() ?? 1);
      }
      return false;
    };
    const lazy: Matcher = (begin) => {
      let at = begin;
      for (let times = 0; ; times += 1) {
        if (times >= min && next(at)) return true;
        const width = times < max ? widthOf(isOne, at, step) : 0;
        if (width === 0) return false;
        at += step * width;
      }
    };
    return isGreedy ? greedy : lazy;
  };

  const compileRepeat = (term: Term & { kind: 'repeat' }, step: 1 | -1, next: Matcher): Matcher => {
    const { min, max, isGreedy } = term;
    if (term.term.kind === 'character') {
      return compileRepeatedCharacter(testerOf(term.term.source, flags), term, step, next);
    }
    let times = 0;
    let last = -1;
    const body = compileTerm(term.term, step, (at) => (at === last && times > min ? false : loop(at)));
    const again: Matcher = (at) => {
      if (times >= max) return false;
      const before = [times, last] as const;
      times += 1;
      last = at;
      if (body(at)) return true;
      [times, last] = before;
      return false;
    };
    const leave: Matcher = (at) => times >= min && next(at);
    const loop: Matcher = (at) => {
      count();
      return isGreedy ? again(at) || leave(at) : leave(at) || again(at);
    };
    return (at) => {
      const before = [times, last] as const;
      [times, last] = [0, -1];
      if (loop(at)) return true;
      [times, last] = before;
      return false;
    };
  };

  const compileGroup = (index: number | null, options: Options, step: 1 | -1, next: Matcher): Matcher => {
    if (index === null) return compileOptions(options, step, next);
    const body = compileOptions(options, step, (at) => {
      const before = captures[index];
      const start = starts[index]!;
      captures[index] = step === 1 ? [start, at] : [at, start];
      if (next(at)) return true;
      captures[index] = before;
      return false;
    });
    return (at) => {
      const before = starts[index]!;
      starts[index] = at;
      if (body(at)) return true;
      starts[index] = before;
      return false;
    };
  };

  const compileTerm = (term: Term, step: 1 | -1, next: Matcher): Matcher => {
    switch (term.kind) {
      case 'character': {
        const isOne = testerOf(term.source, flags);
        return (at) => {
          const width = widthOf(isOne, at, step);
          return width > 0 && next(at + step * width);
        };
      }
      case 'assertion':
        return (at) => {
          count();
          return holds(term.source, text, at, isMultiline) && next(at);
        };
      case 'group':
        return compileGroup(term.index, term.options, step, next);
      case 'look': {
        const body = compileOptions(term.options, term.isAhead ? 1 : -1, () => true);
        return (at) => body(at) !== term.isNegative && next(at);
      }
      case 'reference': {
        const index = names.get(term.to) ?? Number(term.to);
        return (at) => {
          const [from, to] = captures[index] ?? [0, 0];
          const wanted = text.slice(from, to);
          steps += wanted.length + 1;
          const begin = step === 1 ? at : at - wanted.length;
          const there = text.slice(Math.max(0, begin), begin + wanted.length);
          const isSame = flags.includes('i') ? there.toLowerCase() === wanted.toLowerCase() : there === wanted;
          return isSame && next(at + step * wanted.length);
        };
      }
      case 'repeat':
        return compileRepeat(term, step, next);
    }
  };

  const compileOptions = (options: Options, step: 1 | -1, next: Matcher): Matcher => {
    const matchers = options.map((terms) =>
      (step === 1 ? terms.toReversed() : terms).reduce<Matcher>((after, term) => compileTerm(term, step, after), next),
    );
    if (matchers.length === 1) return matchers[0]!;
    return (at) => {
      for (const matcher of matchers) {
        count();
        if (matcher(at)) return true;
      }
      return false;
    };
  };

  const matchAt = compileOptions(all, 1, (at) => {
    matchEnd = at;
    return true;
  });
  return (searched, from) => {
    text = searched;
    steps = 0;
    for (let index = from; index <= text.length; index += 1) {
      captures = [];
      if (matchAt(index)) return { steps, found: { index, end: matchEnd } };
      if (flags.includes('y')) break;
      if (isUnicode && text.codePointAt(index)! > 0xff_ff) index += 1;
    }
    return { steps, found: null };
  };
}

function holds(assertion: string, text: string, at: number, isMultiline: boolean): boolean {
  if (assertion === '^') return at === 0 || (isMultiline && /[\n\r\u2028\u2029]/.test(text[at - 1]!));
  if (assertion === '$') return at === text.length || (isMultiline && /[\n\r\u2028\u2029]/.test(text[at]!));
  const isWord = (place: number): boolean => /\w/.test(text[place] ?? '');
  return (isWord(at - 1) !== isWord(at)) === (assertion === '\\b');
}

const testers = new Map<string, (code: number) => boolean>();

/** Tells for each code of a character whether it is one of these; asks the engine once for each. */
function testerOf(source: string, flags: string): (code: number) => boolean {
  const key = `${flags}/${source}`;
  const before = testers.get(key);
  if (before !== undefined) return before;
  const pattern = new RegExp(`^${source}$`, flags.replaceAll(/[gydm]/g, ''));
  const answers: (boolean | undefined)[] = [];
  const tester = (code: number): boolean =>
    (answers[code] ??= nativeExec.call(pattern, String.fromCodePoint(code)) !== null);
  testers.set(key, tester);
  return tester;
}
