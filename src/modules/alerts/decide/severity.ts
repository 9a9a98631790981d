import type { Level } from '#modules/exceptions/decide/level.ts';

/** Levels by the words that tools use for severities. */
const WORDS: Readonly<Record<string, Level>> = {
  critical: 'fatal',
  fatal: 'fatal',
  emergency: 'fatal',
  alert: 'fatal',
  page: 'fatal',
  disaster: 'fatal',
  p1: 'fatal',
  error: 'error',
  err: 'error',
  high: 'error',
  major: 'error',
  down: 'error',
  average: 'error',
  p2: 'error',
  warning: 'warning',
  warn: 'warning',
  minor: 'warning',
  medium: 'warning',
  p3: 'warning',
  info: 'info',
  information: 'info',
  informational: 'info',
  notice: 'info',
  low: 'info',
  none: 'info',
  ok: 'info',
  p4: 'info',
  p5: 'info',
  debug: 'debug',
};

/** The severity that a tool's word stands for; null for an unknown word. */
export function severityOf(word: unknown): Level | null {
  if (typeof word !== 'string') return null;
  const key = word.trim().toLowerCase();
  return Object.hasOwn(WORDS, key) ? (WORDS[key] ?? null) : null;
}

/** Severity of an alert whose tool names none. */
export const SEVERITY_UNSAID: Level = 'error';
