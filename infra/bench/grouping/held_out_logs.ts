import { type LogLine, linesOf } from '#infra/bench/grouping/log_sets.ts';

import TEMPLATES from './log_templates.json' with { type: 'json' };

/**
 * Lines that no rule of masking or mining was made with: written afterwards, in the style of what these systems are known
 * to log, with values of kinds that the other sets do not have. Nobody may change a rule because of a line here: such a
 * line moves to the other sets first.
 */
const SYSTEMS: Readonly<Record<string, readonly string[]>> = TEMPLATES.heldOut;

const WORDS =
  'alpha amber azure beacon birch breeze canyon cedar comet coral crystal delta ember falcon fjord glacier harbor indigo ivory jasper lagoon lotus maple meadow nimbus onyx orchid pepper pine quartz raven river saffron sierra spruce summit thunder tulip velvet willow'.split(
    ' ',
  );
const STATES = ['NEW', 'UNASSIGNED', 'ASSIGNED', 'RUNNING', 'SUCCEEDED', 'FAIL_CONTAINER_CLEANUP', 'KILLED'];
const PEOPLE = ['M. Okafor', 'Jansen', 'Li Wei', 'Schmidt-Braun', "O'Neill", 'de Vries', 'Sørensen', 'García'];

type Random = () => number;

const below = (random: Random, end: number): number => Math.floor(random() * end);
const pick = (random: Random, values: readonly string[]): string => values[below(random, values.length)] ?? '';
const letters = (random: Random, count: number): string =>
  Array.from({ length: count }, () => pick(random, 'bcdfghjklmnpqrstvwxz2456789'.split(''))).join('');
const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => below(random, 10)).join('');

/** Kinds of values that the other sets do not have. */
const VALUES: Readonly<Record<string, (random: Random) => string>> = {
  axis: (random) => pick(random, ['x+', 'x-', 'y+', 'y-', 'z+', 'z-']),
  rack: (random) => `R${digits(random, 2)}-M${below(random, 2)}-L${below(random, 4)}-U${digits(random, 2)}-A`,
  attempt: (random) =>
    `attempt_${digits(random, 13)}_${digits(random, 4)}_${pick(random, ['m', 'r'])}_${digits(random, 6)}_0`,
  container: (random) => `container_${digits(random, 13)}_${digits(random, 4)}_01_${digits(random, 6)}`,
  state: (random) => pick(random, STATES),
  mac: (random) => Array.from({ length: 6 }, () => `${below(random, 10)}${pick(random, 'abcdef'.split(''))}`).join(':'),
  letter: (random) => pick(random, 'abcdefgh'.split('')),
  reason: (random) => pick(random, ['Unspecified', 'Disassociated', 'Beacon lost', 'Auth expired']),
  process: (random) => pick(random, ['WindowServer', 'Mail', 'coreaudiod', 'com.apple.WebKit', 'Preview', 'cloudd']),
  device: (random) => `${pick(random, WORDS)}-${letters(random, 4).toUpperCase()}`,
  build: (random) => `${below(random, 20)}.${below(random, 30)}.${below(random, 99)}${pick(random, ['', '-rc1', 'b'])}`,
  pod: (random) => `${pick(random, WORDS)}-${letters(random, 9)}-${letters(random, 5)}`,
  namespace: (random) => pick(random, ['default', 'kube-system', 'staging', 'payments', 'team-blue']),
  registry: (random) => `registry.${pick(random, WORDS)}.example:5000`,
  word: (random) => pick(random, WORDS),
  command: (random) => pick(random, ['AUTH', 'CONNECT', 'DATA', 'EHLO', 'RCPT', 'STARTTLS']),
  person: (random) => pick(random, PEOPLE),
  receipt: (random) => `${digits(random, 4)}/${digits(random, 5)}`,
  money: (random) => `€ ${below(random, 900)},${digits(random, 2)}`,
  node: (random) => `${pick(random, WORDS)}-data-${below(random, 30)}`,
  id22: (random) => letters(random, 22),
};

/** Lines of ten kinds of systems. Some templates are frequent and some rare, as in real logs. */
export function heldOutSets(): ReadonlyMap<string, readonly LogLine[]> {
  return new Map(
    Object.entries(SYSTEMS).map(([system, templates], index) => {
      const countOf = (place: number): number => Math.max(2, Math.round(120 / (place + 1)));
      return [system, linesOf(templates, { seed: 101 + index, countOf, values: VALUES })];
    }),
  );
}
