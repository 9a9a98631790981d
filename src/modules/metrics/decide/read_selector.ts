import { SelectorScanner } from '#modules/metrics/decide/selector_scanner.ts';
import { AppError } from '#kernel/errors.ts';

const MATCH_OPERATORS = ['=~', '!~', '!=', '='] as const;
export type MatchOperator = (typeof MATCH_OPERATORS)[number];

/** Condition on a label. A series without the label has the empty text as its value, as in PromQL. */
export interface LabelMatcher {
  readonly label: string;
  readonly operator: MatchOperator;
  /** The text to compare with, or a pattern in RE2's syntax that the whole value has to match. */
  readonly value: string;
}

/** Selector of a service's series: those of the name whose labels meet every matcher. */
export interface MetricSelector {
  readonly name: string;
  readonly matchers: readonly LabelMatcher[];
}

const TEXT_LENGTH_MAX = 16_384;
const MATCHERS_MAX = 64;

/** Throws the fault of a pattern that stands at `start`. */
export type PatternCheck = (pattern: string, scanner: SelectorScanner, start: number) => void;

/**
 * Reads a selector. Patterns are taken as they are unless `checkPattern` checks them: `parseSelector` asks whether RE2
 * takes them, which the console leaves to the server. Throws `invalid_input` in a sentence; `offset` is the place of the
 * selector in the text that it is a side of.
 */
export function readSelector(text: string, checkPattern: PatternCheck = () => {}, offset = 0): MetricSelector {
  if (text.length > TEXT_LENGTH_MAX) throw fault(`a selector has at most ${TEXT_LENGTH_MAX} characters`);
  if (!text.isWellFormed()) throw fault('half of a surrogate pair is not valid text');
  if (text.trim() === '') throw fault('a metric name is required');
  const brace = text.indexOf('{');
  if (brace === -1) return { name: text, matchers: [] };
  return readBraces(text.slice(0, brace).trim(), new SelectorScanner(text, brace + 1, offset), checkPattern);
}

function readBraces(nameBefore: string, scanner: SelectorScanner, checkPattern: PatternCheck): MetricSelector {
  let name = nameBefore;
  const matchers: LabelMatcher[] = [];
  while (!scanner.take('}')) {
    const start = scanner.position;
    const isQuoted = scanner.isAtQuote();
    const label = isQuoted ? scanner.readQuoted() : scanner.readWord();
    const operator = MATCH_OPERATORS.find((candidate) => scanner.take(candidate));
    if (operator !== undefined) matchers.push(readMatcher(scanner, { label, operator, start }, checkPattern));
    else if (isQuoted && name === '' && matchers.length === 0) name = label;
    else throw scanner.fault('one of = != =~ !~ is expected after the label');
    if (matchers.length > MATCHERS_MAX) throw scanner.fault(`more than ${MATCHERS_MAX} matchers`);
    if (!scanner.take(',') && !scanner.isAt('}')) throw scanner.fault('a comma or } is expected');
  }
  if (!scanner.isAtEnd()) throw scanner.fault('nothing may follow the }');
  if (name.trim() === '') throw fault('a metric name is required before the {');
  return { name, matchers };
}

function readMatcher(
  scanner: SelectorScanner,
  { label, operator, start }: { readonly label: string; readonly operator: MatchOperator; readonly start: number },
  checkPattern: PatternCheck,
): LabelMatcher {
  if (label === '') throw scanner.fault('a label name is expected', start);
  if (label === '__name__') throw scanner.fault('the metric name stands before the {, not as __name__', start);
  if (!scanner.isAtQuote()) throw scanner.fault(`a quoted text is expected after ${operator}`);
  const valueStart = scanner.position;
  const value = scanner.readQuoted();
  if (operator === '=~' || operator === '!~') checkPattern(value, scanner, valueStart);
  return { label, operator, value };
}

function fault(message: string): AppError {
  return new AppError('invalid_input', message);
}
