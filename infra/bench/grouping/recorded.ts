import { readFileSync } from 'node:fs';
import path from 'node:path';

import { eventOfClient, type LabelledEvent } from './labelled_event.ts';

/** Errors of two builds of a program in each language, by the compilers of Debian 12; see `record_compiled.ts`. */
export const RECORDED_FILE = path.join(import.meta.dirname, 'recorded.json');

export interface RecordedError {
  readonly platform: string;
  readonly label: string;
  readonly type: string;
  readonly value: string;
  readonly frames: readonly unknown[];
}

export function recordedErrors(): readonly LabelledEvent[] {
  const errors = JSON.parse(readFileSync(RECORDED_FILE, 'utf8')) as readonly RecordedError[];
  return errors.map(({ platform, label, type, value, frames }) => ({
    label,
    event: eventOfClient({ platform, exception: { values: [{ type, value, stacktrace: { frames } }] } }),
  }));
}
