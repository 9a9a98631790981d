import { RE2JS } from 're2js';
import { SelectorScanner } from '#core/metrics/selector_scanner.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';

const MATCH_OPERATORS = ['=~', '!~', '!=', '='] as const;
export type MatchOperator = (typeof MATCH_OPERATORS)[number];

/** A series without the label has the empty text as its value, as in PromQL. */
export interface LabelMatcher {
  readonly label: string;
  readonly operator: MatchOperator;
  /** The text to compare with, or a pattern in RE2's syntax that the whole value has to match. */
  readonly value: string;
}

/** Which series of a service are meant: those of the name whose labels meet every matcher. */
export interface MetricSelector {
  readonly name: string;
  readonly matchers: readonly LabelMatcher[];
}

const TEXT_LENGTH_MAX = 16_384;
const MATCHERS_MAX = 64;
const PATTERN_LENGTH_MAX = 512;
/** Keeps what a pattern compiles to within RE2's own memory budget, which only shows when the query runs. */
const PROGRAM_SIZE_MAX = 500;

/**
 * Reads `http_requests_total{status=~"5..",route!="/health"}`: a metric's name as it was sent, and optionally matchers
 * in braces, with texts quoted and escaped as in PromQL. Names that hold a brace stand quoted inside the braces:
 * `{"odd{name",zone="a"}`; label names may be quoted too. Fails with `invalid_input` at `path`, in a sentence that
 * says at which character.
 */
export function parseSelector(text: string, path = 'metricName'): MetricSelector {
  try {
    return readSelector(text);
  } catch (error) {
    if (error instanceof AppError) throw invalidInput([{ path, message: error.message }]);
    throw error;
  }
}

/** What `parseSelector` would throw, as data; empty for a text that it reads. */
export function selectorFaults(text: string, path = 'metricName'): readonly Fault[] {
  try {
    readSelector(text);
    return [];
  } catch (error) {
    if (error instanceof AppError) return [{ path, message: error.message }];
    throw error;
  }
}

/** The pattern of a `=~` or `!~` matcher as a search for it has to be written: PromQL anchors, and its dot is any character. */
export function anchoredPattern(pattern: string): string {
  return `^(?s:${pattern})$`;
}

function readSelector(text: string): MetricSelector {
  if (text.length > TEXT_LENGTH_MAX) throw fault(`a selector has at most ${TEXT_LENGTH_MAX} characters`);
  if (!text.isWellFormed()) throw fault('half a surrogate pair is no text');
  if (text.trim() === '') throw fault('a metric name is required');
  const brace = text.indexOf('{');
  if (brace === -1) return { name: text, matchers: [] };
  return readBraces(text.slice(0, brace).trim(), new SelectorScanner(text, brace + 1));
}

function readBraces(nameBefore: string, scanner: SelectorScanner): MetricSelector {
  let name = nameBefore;
  const matchers: LabelMatcher[] = [];
  while (!scanner.take('}')) {
    const start = scanner.position;
    const isQuoted = scanner.isAtQuote();
    const label = isQuoted ? scanner.readQuoted() : scanner.readWord();
    const operator = MATCH_OPERATORS.find((candidate) => scanner.take(candidate));
    if (operator !== undefined) matchers.push(readMatcher(scanner, label, operator, start));
    else if (isQuoted && name === '' && matchers.length === 0) name = label;
    else throw scanner.fault('one of = != =~ !~ is expected after the label');
    if (matchers.length > MATCHERS_MAX) throw scanner.fault(`more than ${MATCHERS_MAX} matchers`);
    if (!scanner.take(',') && !scanner.isAt('}')) throw scanner.fault('a comma or } is expected');
  }
  if (!scanner.isAtEnd()) throw scanner.fault('nothing may follow the }');
  if (name.trim() === '') throw fault('a metric name is required before the {');
  return { name, matchers };
}

function readMatcher(scanner: SelectorScanner, label: string, operator: MatchOperator, start: number): LabelMatcher {
  if (label === '') throw scanner.fault('a label name is expected', start);
  if (label === '__name__') throw scanner.fault('the metric name stands before the {, not as __name__', start);
  if (!scanner.isAtQuote()) throw scanner.fault(`a quoted text is expected after ${operator}`);
  const valueStart = scanner.position;
  const value = scanner.readQuoted();
  if (operator === '=~' || operator === '!~') checkPattern(value, scanner, valueStart);
  return { label, operator, value };
}

/** Refuses what RE2 refuses, in its own words: look-around, back-references, and repetition beyond its bounds. */
function checkPattern(pattern: string, scanner: SelectorScanner, start: number): void {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw scanner.fault(`a pattern has at most ${PATTERN_LENGTH_MAX} characters`, start);
  }
  let program: RE2JS;
  try {
    // Alone first: `a)(b` is sound only inside the group that anchors it. Then anchored: `\Q` must not swallow that.
    RE2JS.compile(pattern);
    program = RE2JS.compile(anchoredPattern(pattern));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unreadable';
    throw scanner.fault(`RE2 does not take the pattern (${reason})`, start);
  }
  if (program.programSize() > PROGRAM_SIZE_MAX) throw scanner.fault('the pattern is too large once written out', start);
}

function fault(message: string): AppError {
  return new AppError('invalid_input', message);
}
