import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent, learnableMessage } from '#modules/exceptions/decide/grouping.ts';
import {
  bucketOf,
  learnMessage,
  type MessageTemplate,
  tokensOfMessage,
} from '#modules/exceptions/decide/message_templates.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import { duration } from './figures.ts';
import { browserErrors } from './grouping/browsers.ts';
import { buildErrors } from './grouping/builds.ts';
import { type LabelledEvent, messageEvent, recordedErrors } from './grouping/labelled_event.ts';
import { heldOutSets } from './grouping/held_out_logs.ts';
import { type LogLine, logSets } from './grouping/log_sets.ts';
import { programErrors } from './grouping/programs.ts';
import { type Bench, printInputs, printTable, withFolder } from './harness.ts';

/** Finds the group of each event as a worker does with the templates that it reads from the store. */
const groupsOf = (events: readonly ExceptionEvent[]): readonly string[] => {
  const buckets = new Map<string, MessageTemplate[]>();
  const absorbedBy = new Map<string, string>();
  const keys = events.map((event) => {
    const { key, parts } = groupEvent(event);
    const message = learnableMessage({ parts });
    if (message === null) return key;
    const tokens = tokensOfMessage(message.text);
    const place = bucketOf(tokens, message.place);
    const bucket = buckets.get(place) ?? [];
    const { template, change, absorbed } = learnMessage(bucket, { key, tokens });
    for (const taken of absorbed) absorbedBy.set(taken, template.key);
    const left = bucket.filter((other) => !absorbed.includes(other.key));
    const after =
      change === 'added' ? [...left, template] : left.map((other) => (other.key === template.key ? template : other));
    buckets.set(place, after);
    return template.key;
  });
  const final = (key: string): string => {
    const taken = absorbedBy.get(key);
    return taken === undefined ? key : final(taken);
  };
  return keys.map(final);
};

export const grouping: Bench = {
  name: 'grouping',
  about:
    'which events become one group: errors over builds, browsers and moved code; lines of logs (goals: accuracy 0.85, precision 0.99)',
  run: () =>
    withFolder(async (folder) => {
      const errors: Readonly<Record<string, readonly LabelledEvent[]>> = {
        'two minified builds of a program': await buildErrors(folder),
        'three browsers': browserErrors(),
        'Python and Ruby, moved code': await programErrors(folder),
        'two builds in Java, PHP, Go, C#, C++, Erlang and Perl, recorded': recordedErrors(),
      };
      const logs = logSets();
      printInputs({
        errors: Object.entries(errors)
          .map(([name, events]) => `${name}: ${events.length} events`)
          .join('; '),
        logs: `${logs.size} kinds of systems, ${[...logs.values()].reduce((sum, lines) => sum + lines.length, 0)} lines made from labelled templates`,
      });
      printTable(Object.entries(errors).map(([name, events]) => rowOf(name, events)));
      const sets = eventsOf(logs);
      printTable(sets.map(({ name, events }) => rowOf(name, events)));
      printMean('all logs', sets);
      const heldOut = eventsOf(heldOutSets());
      console.log('  lines that no rule was made with:\n');
      printTable(heldOut.map(({ name, events }) => rowOf(name, events)));
      printMean('all held out', heldOut);
      printCost(
        Object.values(errors)
          .flat()
          .map(({ event }) => event),
        sets.flatMap(({ events }) => events.map(({ event }) => event)),
      );
    }),
};

interface LabelledSet {
  readonly name: string;
  readonly events: readonly LabelledEvent[];
}

function eventsOf(sets: ReadonlyMap<string, readonly LogLine[]>): readonly LabelledSet[] {
  return [...sets].map(([name, lines]) => ({
    name,
    events: lines.map(({ label, text }) => ({ label, event: messageEvent(text) })),
  }));
}

function rowOf(name: string, events: readonly LabelledEvent[]): Readonly<Record<string, string | number>> {
  const { precision, recall, accuracy } = scoreBy(events);
  return {
    set: name,
    labels: new Set(events.map(({ label }) => label)).size,
    precision: precision.toFixed(3),
    recall: recall.toFixed(3),
    accuracy: accuracy.toFixed(3),
  };
}

function scoreBy(events: readonly LabelledEvent[]): ReturnType<typeof scoreOf> {
  const keys = groupsOf(events.map(({ event }) => event));
  return scoreOf(events.map(({ label }, index) => ({ label, key: keys[index] ?? '' })));
}

function printMean(title: string, sets: readonly LabelledSet[]): void {
  const mean = (of: 'precision' | 'recall' | 'accuracy'): string =>
    (sets.reduce((sum, { events }) => sum + scoreBy(events)[of], 0) / sets.length).toFixed(3);
  printTable([{ [title]: 'mean', precision: mean('precision'), recall: mean('recall'), accuracy: mean('accuracy') }]);
}

const ROUNDS = 20;

/** The processor's time for an event, names and patterns warm. */
function printCost(errors: readonly ExceptionEvent[], logs: readonly ExceptionEvent[]): void {
  const works: readonly (readonly [string, (event: ExceptionEvent) => unknown])[] = [
    ['key', (event) => groupEvent(event)],
    ['title and level', (event) => toOccurrence(event)],
  ];
  const meanMs = (events: readonly ExceptionEvent[], work: (event: ExceptionEvent) => unknown): number => {
    for (const event of events) work(event);
    const began = performance.now();
    for (let round = 0; round < ROUNDS; round += 1) for (const event of events) work(event);
    return (performance.now() - began) / (ROUNDS * events.length);
  };
  printTable(
    works.map(([name, work]) => ({
      'an event': name,
      errors: duration(meanMs(errors, work)),
      'log lines': duration(meanMs(logs, work)),
    })),
  );
  const began = performance.now();
  groupsOf(logs);
  printTable([
    { 'an event': 'with its template learnt', 'log lines': duration((performance.now() - began) / logs.length) },
  ]);
}

/** Agreement of groups with labels. */
interface Score {
  /** Share of the pairs in one group that have one label. */
  readonly precision: number;
  /** Share of the pairs with one label that are in one group. */
  readonly recall: number;
  /** Share of events in a group that holds all events of their label and no others. */
  readonly accuracy: number;
  readonly items: number;
}

interface Labelled {
  readonly label: string;
  readonly key: string;
}

function scoreOf(items: readonly Labelled[]): Score {
  const labels = countBy(items, ({ label }) => label);
  const keys = countBy(items, ({ key }) => key);
  const both = countBy(items, ({ label, key }) => `${label}\n${key}`);
  const right = items.filter(({ label, key }) => {
    const same = both.get(`${label}\n${key}`);
    return same === labels.get(label) && same === keys.get(key);
  });
  return {
    precision: share(pairs(both), pairs(keys)),
    recall: share(pairs(both), pairs(labels)),
    accuracy: share(right.length, items.length),
    items: items.length,
  };
}

function countBy(items: readonly Labelled[], by: (item: Labelled) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(by(item), (counts.get(by(item)) ?? 0) + 1);
  return counts;
}

function pairs(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + (count * (count - 1)) / 2, 0);
}

function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}
