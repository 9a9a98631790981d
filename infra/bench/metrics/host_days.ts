import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

import { findFreePort } from '#infra/embedded/free_port.ts';

import { seeded } from '#infra/bench/seeded.ts';

/** A series of a node exporter, as it was seen once a second; a second stands for a scrape every 15 s, all of them for an hour. */
export interface RecordedSeries {
  readonly name: string;
  /** Names and values in turn. */
  readonly labels: readonly string[];
  readonly isCounter: boolean;
  readonly values: Float64Array;
  /** All values are multiples of it; 0 for none that is known. */
  readonly step: number;
}

export const SCRAPE_MS = 15_000;
export const HOUR_MS = 3_600_000;
const SCRAPES = HOUR_MS / SCRAPE_MS;

/** Reads a real node exporter of this machine for four minutes. Series that come or go meanwhile are left out. */
export async function recordHour(): Promise<RecordedSeries[]> {
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const exporter = spawn('prometheus-node-exporter', [`--web.listen-address=${address}`], { stdio: 'ignore' });
  try {
    await untilAnswers(`http://${address}/metrics`);
    const texts: string[] = [];
    for (let index = 0; index < SCRAPES; index += 1) {
      const began = performance.now();
      texts.push(await (await fetch(`http://${address}/metrics`)).text());
      await delay(Math.max(0, 1_000 - (performance.now() - began)));
    }
    return readTexts(texts);
  } finally {
    exporter.kill('SIGTERM');
  }
}

async function untilAnswers(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url).catch(() => null);
    await response?.text();
    if (response?.ok === true) return;
    if (tries === 100) throw new Error('the node exporter does not answer');
    await delay(100);
  }
}

function readTexts(texts: readonly string[]): RecordedSeries[] {
  const types = new Map<string, string>();
  const valuesBySeries = new Map<string, Float64Array>();
  for (const [index, text] of texts.entries()) {
    for (const line of text.split('\n')) {
      const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      if (name !== '') types.set(name, type);
      if (line === '' || line.startsWith('#')) continue;
      const end = line.lastIndexOf(' ');
      const values = valuesBySeries.get(line.slice(0, end)) ?? new Float64Array(texts.length).fill(Number.NaN);
      values[index] = Number(line.slice(end + 1));
      valuesBySeries.set(line.slice(0, end), values);
    }
  }
  return [...valuesBySeries].flatMap(([key, values]): RecordedSeries[] => {
    if (values.some(Number.isNaN)) return [];
    const [name = '', labels = ''] = key.split(/\{(.*)\}$/s);
    const type = types.get(name) ?? types.get(name.replace(/_(sum|count|bucket)$/, '')) ?? '';
    const isCounter = type === 'counter' || (/^(summary|histogram)$/.test(type) && types.get(name) === undefined);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].flatMap(([, label = '', value = '']) => [
      label,
      value,
    ]);
    return [{ name, labels: pairs, isCounter, values, step: stepOf(values) }];
  });
}

const STEPS = [1_048_576, 65_536, 4_096, 1_024, 512, 100, 10, 1, 0.01, 0.001];

function stepOf(values: Float64Array): number {
  const isStep = (step: number): boolean =>
    values.every((value) => Math.abs(value / step - Math.round(value / step)) < 1e-6);
  return STEPS.find(isStep) ?? 0;
}

/**
 * The values of a series of a host within one hour. Hosts begin at other places of the recording and with other values;
 * counters go on from hour to hour. What never changed stays as it was.
 */
export function hourOf(series: RecordedSeries, index: number, host: number, hour: number): Float64Array {
  const { values, isCounter, step } = series;
  const [first = 0] = values;
  if (values.every((value) => value === first)) return values;
  const random = seeded(host * 100_003 + index);
  const offset = Math.floor(random() * 1_000) * (step || 0.001);
  const begin = Math.floor(random() * values.length) + hour * 61;
  const at = (place: number): number => values[place % values.length] ?? 0;
  if (!isCounter) return values.map((_, place) => rounded(at(begin + place) + offset, step));
  const grown = (values.at(-1) ?? 0) - first;
  let total = first + offset + grown * hour;
  return values.map((_, place) => {
    const growth = at(begin + place) - at(begin + place - 1 + values.length);
    if (place > 0) total += Math.max(0, growth);
    return rounded(total, step);
  });
}

/** Rounds a value to the steps in which a program counts. */
function rounded(value: number, step: number): number {
  if (step === 0) return value;
  if (step >= 1) return Math.round(value / step) * step;
  return Number(value.toFixed(step === 0.01 ? 2 : 3));
}
