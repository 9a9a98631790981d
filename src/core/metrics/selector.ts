import { RE2JS } from 're2js';

import type { SelectorScanner } from '#core/metrics/selector_scanner.ts';
import { type MetricSelector, readSelector } from '#core/metrics/read_selector.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';

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
    return readSelector(text, checkPattern);
  } catch (error) {
    if (error instanceof AppError) throw invalidInput([{ path, message: error.message }]);
    throw error;
  }
}

/** What `parseSelector` would throw, as data; empty for a text that it reads. */
export function selectorFaults(text: string, path = 'metricName'): readonly Fault[] {
  try {
    readSelector(text, checkPattern);
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
