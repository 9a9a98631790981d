import { seeded } from '#infra/bench/seeded.ts';

import TEMPLATES from './log_templates.json' with { type: 'json' };

/** One line of a log, with the template that it was made from. */
export interface LogLine {
  readonly label: string;
  readonly text: string;
}

/** Lines that services of many kinds write; `{…}` is filled in from `VALUES`. */
const SYSTEMS: Readonly<Record<string, readonly string[]>> = TEMPLATES.known;

const LINES_A_TEMPLATE = 40;
const WORDS =
  'auth billing cart checkout cron delivery export feeds gateway images indexer ledger mailer orders parser payments push quotes reports router search sessions shipping stock sync tasks tokens users video'.split(
    ' ',
  );
const USERS =
  'root admin test oracle guest ubuntu deploy ann bob carol dave eve frank mallory trent cyrus news postgres nagios webmaster user1 pi'.split(
    ' ',
  );

/** Lines of sixteen kinds of systems, in a random order that follows from the name of the system. */
export function logSets(): ReadonlyMap<string, readonly LogLine[]> {
  return new Map(
    Object.entries(SYSTEMS).map(([system, templates], index) => [system, linesOf(templates, { seed: index + 1 })]),
  );
}

/** Functions that fill in the places of a template. */
type Values = Readonly<Record<string, (random: () => number) => string>>;

interface Making {
  readonly seed: number;
  /** Number of lines of the template at this place. */
  readonly countOf?: (place: number) => number;
  /** Besides those that all sets have. */
  readonly values?: Values;
}

/** Lines made of templates, in a random order that follows from the seed. */
export function linesOf(
  templates: readonly string[],
  { seed, countOf = () => LINES_A_TEMPLATE, values = {} }: Making,
): readonly LogLine[] {
  const random = seeded(seed);
  const lines = templates.flatMap((label, place) =>
    Array.from({ length: countOf(place) }, () => ({ label, text: fill(label, random, values), at: random() })),
  );
  return lines.toSorted((a, b) => a.at - b.at).map(({ label, text }) => ({ label, text }));
}

function fill(template: string, random: () => number, others: Values): string {
  const below = (end: number): number => Math.floor(random() * end);
  const pick = (values: readonly string[]): string => values[below(values.length)] ?? '';
  const digits = (count: number): string => Array.from({ length: count }, () => below(10)).join('');
  const hex = (count: number): string => Array.from({ length: count }, () => below(16).toString(16)).join('');
  const host = (): string =>
    pick([`${pick(WORDS)}-${below(40)}.example.com`, `${pick(WORDS)}.eu.corp.internal`, `db${below(9)}.local`]);
  const values: Readonly<Record<string, () => string>> = {
    ip: () => [10 + below(200), below(256), below(256), below(256)].join('.'),
    port: () => String(1_024 + below(60_000)),
    int: () => String(below(10 ** (1 + below(6)))),
    sint: () => `${random() < 0.5 ? '-' : ''}${1 + below(9)}${digits(17)}`,
    digit: () => String(below(10)),
    float: () => `${below(900)}.${digits(1 + below(4))}`,
    status: () => pick(['400', '404', '500', '502', '503']),
    size: () => pick([`${below(900)} B`, `${below(90)}.${below(10)} KB`, `${below(90)}.${below(10)} MB`]),
    dur: () => pick([`${below(900)}ms`, `${below(60)}.${below(10)}s`, `${below(10)}m${below(60)}s`]),
    clock: () => `${10 + below(14)}:${10 + below(50)}:${10 + below(50)}`,
    date: () => `2027-0${1 + below(9)}-1${below(10)}T0${below(10)}:1${below(10)}:2${below(10)}Z`,
    user: () => pick(USERS),
    name: () => pick(WORDS),
    table: () => `${pick(WORDS)}_${pick(WORDS)}`,
    class: () => `com.example.${pick(WORDS)}.${pick(['Main', 'Worker', 'Service', 'View'])}`,
    sku: () => `${pick(['AB', 'KX', 'ZZ'])}-${digits(5)}`,
    host,
    email: () => `${pick(USERS)}@${host()}`,
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
    path: () => `/var/lib/${pick(WORDS)}/${pick(WORDS)}-${below(1_000)}/${hex(8)}.dat`,
  };
  return template.replaceAll(/\{([a-z]+)(\d*)\}/g, (_, kind: string, length: string) =>
    kind === 'hex' ? hex(Number(length)) : (values[kind]?.() ?? others[`${kind}${length}`]?.(random) ?? ''),
  );
}
