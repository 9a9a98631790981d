import { existsSync } from 'node:fs';

import { isInstalled, PROGRAMS } from '#test/live/program.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';

/** A group as a wall shows it: events, severity, title, culprit. */
export type Line = readonly [events: number, severity: string, title: string, culprit: string | null];

/** A client of Sentry, the program that uses it, and what is to become of what that reports. */
export interface Client {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether its library is on this machine. */
  readonly canRun: boolean;
  readonly sdk: { readonly name: string; readonly version: string };
  /** Lines in the order of their titles. */
  readonly wall: readonly Line[];
  /** Exceptions of the event that was raised for two orders, the root cause first. */
  readonly chain: readonly string[];
  /** The address that it sends events to. */
  readonly door: 'envelope' | 'store';
  /** Whether it sends nothing more once it was refused so; else it sends each event, once. */
  readonly quietedBy: readonly number[];
}

const LONG = `a long story ${'x'.repeat(120)}`;

/** Titles are at most 120 characters. */
function cut(title: string): string {
  return `${title.slice(0, 119)}…`;
}

interface Javascript {
  readonly name: string;
  readonly file: string;
  readonly version: string;
  /** Text for a program that threw null. */
  readonly ofNull: string;
  /** The client shows where a message was reported. */
  readonly placesMessages: boolean;
}

function javascript({ name, file, version, ofNull, placesMessages }: Javascript): Client {
  return {
    name,
    command: [process.execPath, `${PROGRAMS}/${file}`],
    canRun: true,
    sdk: { name: 'sentry.javascript.node', version },
    wall: [
      [2, 'error', 'Error: order of <*> beans was not charged', `chargeOrder (${file})`],
      [1, 'error', 'Error: teapot 🫖 with half a � and a � in it', `report (${file})`],
      [2, 'error', 'Error: the beans are <*>', `report (${file})`],
      [1, 'error', cut(`Error: ${LONG}`), `report (${file})`],
      [1, 'error', 'Object captured as exception with keys: code, reason', `capture (${file})`],
      [1, 'fatal', 'TypeError: the machine is on fire', file],
      [1, 'error', 'a text that was thrown', `capture (${file})`],
      [1, 'error', `${ofNull} in capture (${file})`, `capture (${file})`],
      [1, 'warning', 'the grinder is slow', placesMessages ? `report (${file})` : null],
    ],
    chain: ['RangeError', 'Error'],
    door: 'envelope',
    quietedBy: [429, 403, 401],
  };
}

const GO = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };

export const CLIENTS: readonly Client[] = [
  javascript({
    name: '@sentry/node 11',
    file: 'sentry_node_11.ts',
    version: '11.12.0',
    ofNull: 'null thrown',
    placesMessages: true,
  }),
  javascript({
    name: '@sentry/node 7',
    file: 'sentry_node_7.ts',
    version: '7.120.4',
    ofNull: 'Event without a message',
    placesMessages: false,
  }),
  {
    name: 'raven for Node',
    command: [process.execPath, `${PROGRAMS}/raven_node.cjs`],
    canRun: true,
    sdk: { name: 'raven-node', version: '2.6.4' },
    wall: [
      [1, 'error', 'Error: Non-Error exception captured with keys: code, reason', 'raven_node.cjs'],
      [1, 'error', 'Error: a text that was thrown', 'raven_node.cjs'],
      [1, 'error', 'Error: teapot 🫖 with half a � and a � in it', 'report (raven_node.cjs)'],
      [2, 'error', 'Error: the beans are <*>', 'report (raven_node.cjs)'],
      [1, 'error', cut(`Error: ${LONG}`), 'report (raven_node.cjs)'],
      [2, 'error', 'RangeError: cannot take an order of <*> beans', 'takeOrder (raven_node.cjs)'],
      [1, 'fatal', 'TypeError: the machine is on fire', 'raven_node.cjs'],
      [1, 'warning', 'the grinder is slow', null],
    ],
    chain: ['RangeError'],
    door: 'store',
    quietedBy: [],
  },
  {
    name: 'sentry-sdk for Python',
    command: ['/usr/bin/python3', `${PROGRAMS}/sentry_python.py`],
    canRun: canRunWith('python3-sentry-sdk', isInstalled('/usr/bin/python3', '-c', 'import sentry_sdk')),
    sdk: { name: 'sentry.python', version: '1.9.10' },
    wall: [
      [1, 'error', "KeyError: 'sugar'", null],
      [2, 'error', 'OutOfBeans: order of <*> beans was not charged', 'charge_order (sentry_python.py)'],
      [1, 'error', 'RuntimeError: the machine is on fire', 'report (sentry_python.py)'],
      [1, 'error', cut(`ValueError: ${LONG}`), null],
      [1, 'error', 'ValueError: teapot 🫖 with half a � and a � in it', null],
      [2, 'error', 'ValueError: the beans are <*>', null],
      [1, 'error', 'table 7b waits for 3 cups', null],
      [1, 'warning', 'the grinder is slow', null],
    ],
    chain: ['ValueError', 'OutOfBeans'],
    door: 'store',
    quietedBy: [429, 403, 401],
  },
  {
    name: 'sentry-ruby',
    command: ['ruby', `${PROGRAMS}/sentry_ruby.rb`],
    canRun: canRunWith('ruby-sentry-ruby', isInstalled('ruby', '-rsentry-ruby', '-e', '')),
    sdk: { name: 'sentry.ruby', version: '5.3.0' },
    wall: rubyWall('sentry_ruby.rb', 'report (sentry_ruby.rb)'),
    chain: ['ArgumentError', 'OutOfBeans'],
    door: 'envelope',
    quietedBy: [429],
  },
  {
    name: 'raven for Ruby',
    command: ['ruby', `${PROGRAMS}/raven_ruby.rb`],
    canRun: canRunWith('ruby-sentry-raven', isInstalled('ruby', '-rraven', '-e', '')),
    sdk: { name: 'raven-ruby', version: '3.1.2' },
    wall: rubyWall('raven_ruby.rb', null),
    chain: ['ArgumentError', 'OutOfBeans'],
    door: 'store',
    quietedBy: [429, 403, 401],
  },
  {
    name: 'sentry-go',
    command: ['go', 'run', `${PROGRAMS}/go/main.go`],
    env: GO,
    canRun: canRunWith(
      'golang-github-getsentry-sentry-go-dev',
      isInstalled('go', 'version') && existsSync(`${GO.GOPATH}/src/github.com/getsentry/sentry-go`),
    ),
    sdk: { name: 'sentry.go', version: '0.11.0' },
    wall: [
      [1, 'error', cut(LONG), 'capture (main.go)'],
      [2, 'error', 'outOfBeans: the order was not charged: cannot take an order of <*> beans', 'capture (main.go)'],
      [1, 'fatal', 'panic: assignment to entry in nil map', 'report.func (main.go)'],
      // Go replaces each byte of a character that is cut in two.
      [1, 'error', 'teapot 🫖 with half a �� and a � in it', 'capture (main.go)'],
      [2, 'error', 'the beans are <*>', 'capture (main.go)'],
      [1, 'warning', 'the grinder is slow', 'report.func (main.go)'],
      [1, 'fatal', 'the machine is on fire', 'report.func (main.go)'],
    ],
    chain: ['*errors.errorString', '*main.outOfBeans'],
    door: 'store',
    quietedBy: [429, 403, 401],
  },
];

function rubyWall(file: string, culpritOfMessage: string | null): readonly Line[] {
  return [
    [1, 'error', 'KeyError: key not found: :sugar', null],
    [2, 'error', 'OutOfBeans: order of <*> beans was not charged', `charge_order (${file})`],
    [1, 'fatal', 'RuntimeError: the machine is on fire', `report (${file})`],
    [1, 'error', cut(`StandardError: ${LONG}`), null],
    [1, 'error', 'StandardError: teapot 🫖 and a � in it', null],
    [2, 'error', 'StandardError: the beans are <*>', null],
    [1, 'warning', 'the grinder is slow', culpritOfMessage],
  ];
}
