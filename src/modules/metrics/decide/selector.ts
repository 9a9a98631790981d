import { boundMatcher } from '#modules/metrics/decide/quantile.ts';
import { knownPattern, rememberPattern, sizeOfPattern } from '#modules/metrics/decide/pattern_size.ts';
import { type MetricSelector, readSelector, type SelectorScanner } from '#modules/metrics/decide/read_selector.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import { type MetricExpression, readExpression } from '#modules/metrics/decide/expression.ts';

export const PATTERN_LENGTH_MAX = 512;
/** Limit on the size of a compiled pattern, to stay within RE2's memory budget, which only shows in a query. */
const PROGRAM_SIZE_MAX = 500;
/**
 * Limit on the sizes of all patterns of a selector together. Compiling to this size takes some milliseconds, and each
 * request that is read may ask for it.
 */
const PROGRAM_SIZES_MAX = 1_000;

/**
 * Parses `http_requests_total{status=~"5..",route!="/health"}`: a metric's name as it was sent, and optionally matchers
 * in braces, with texts quoted and escaped as in PromQL. Names that hold a brace stand quoted inside the braces:
 * `{"odd{name",zone="a"}`; label names may be quoted too. Fails with `invalid_input` at `path`, in a sentence that says
 * at which character.
 */
export function parseSelector(text: string, path = 'metricName'): MetricSelector {
  try {
    return withBounds(readSelector(text, patternCheck()));
  } catch (error) {
    if (error instanceof AppError) throw invalidInput([{ path, message: error.message }]);
    throw error;
  }
}

/**
 * Reads the selector of a rule or call whose patterns were checked when it was stored or sent. Does not compile the
 * patterns: the store that does so checks them again.
 */
export function readCheckedSelector(text: string): MetricSelector {
  return withBounds(readSelector(text));
}

function withBounds({ name, matchers }: MetricSelector): MetricSelector {
  return { name, matchers: matchers.map((matcher) => boundMatcher(matcher) ?? matcher) };
}

/** Parses a selector, as `parseSelector` does, or a ratio of two with its factor. */
export function parseExpression(text: string, path = 'metricName'): MetricExpression {
  try {
    return expressionWithBounds(readExpression(text, patternCheck()));
  } catch (error) {
    if (error instanceof AppError) throw invalidInput([{ path, message: error.message }]);
    throw error;
  }
}

/** Reads a stored or sent expression whose patterns were checked, as `readCheckedSelector` does. */
export function readCheckedExpression(text: string): MetricExpression {
  return expressionWithBounds(readExpression(text));
}

function expressionWithBounds({ sides: [dividend, divisor], ...rest }: MetricExpression): MetricExpression {
  return {
    ...rest,
    sides: divisor === undefined ? [withBounds(dividend)] : [withBounds(dividend), withBounds(divisor)],
  };
}

/** Returns the patterns of a text that may be a selector or a ratio; none if it is neither. */
export function patternsIn(text: string): string[] {
  const patterns: string[] = [];
  try {
    readExpression(text, (pattern) => void patterns.push(pattern));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return patterns;
}

/** Returns the faults that `parseExpression` would throw; empty for a text that it reads. */
export function expressionFaults(text: string, path = 'metricName'): readonly Fault[] {
  try {
    readExpression(text, patternCheck());
    return [];
  } catch (error) {
    if (error instanceof AppError) return [{ path, message: error.message }];
    throw error;
  }
}

/** Refuses what RE2 refuses, in its own words: look-around, back-references, and repetition beyond its bounds. */
function patternCheck() {
  let sizes = 0;
  return (pattern: string, scanner: SelectorScanner, start: number): void => {
    if (pattern.length > PATTERN_LENGTH_MAX) {
      throw scanner.fault(`a pattern has at most ${PATTERN_LENGTH_MAX} characters`, start);
    }
    const size = compiledSize(pattern);
    if (typeof size === 'string') throw scanner.fault(`RE2 does not accept the pattern (${size})`, start);
    if (size > PROGRAM_SIZE_MAX) throw scanner.fault('the pattern is too large once written out', start);
    sizes += size;
    if (sizes > PROGRAM_SIZES_MAX) throw scanner.fault('the patterns are too large together once written out', start);
  };
}

/** Returns the size of a pattern's program; the fault of one that RE2 does not take. */
function compiledSize(pattern: string): number | string {
  const cached = knownPattern(pattern);
  if (cached !== undefined) return cached;
  const size = sizeOfPattern(pattern);
  rememberPattern(pattern, size);
  return size;
}
