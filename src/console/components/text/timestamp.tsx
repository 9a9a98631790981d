import { useSyncExternalStore } from 'react';

import { serverNow } from '#console/api/http.ts';
import {
  clockText,
  coarseDurationText,
  dateText,
  dateTimeText,
  fullText,
  relativeText,
} from '#console/components/text/time_text.ts';

interface TimestampProps {
  readonly at: string;
  /** Format: time since or until then, duration since then, day and time, day, or time of day. */
  readonly format?: 'ago' | 'age' | 'date_time' | 'date' | 'clock';
}

/** Time in the viewer's zone. The tooltip shows the full date and time. */
export function Timestamp({ at, format = 'ago' }: TimestampProps) {
  return (
    <time dateTime={at} title={fullText(at)}>
      {format === 'ago' || format === 'age' ? (
        <RelativeTime at={Date.parse(at)} format={format} />
      ) : (
        absoluteText(at, format)
      )}
    </time>
  );
}

function RelativeTime({ at, format }: { readonly at: number; readonly format: 'ago' | 'age' }) {
  const now = useNow(5);
  return format === 'ago' ? relativeText(at, now) : coarseDurationText(Math.max(0, now - at));
}

function absoluteText(at: string, format: 'date_time' | 'date' | 'clock'): string {
  switch (format) {
    case 'date_time':
      return dateTimeText(at);
    case 'date':
      return dateText(at);
    case 'clock':
      return clockText(at);
  }
}

const LISTENERS = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let second = 0;

function subscribe(listener: () => void): () => void {
  LISTENERS.add(listener);
  timer ??= setInterval(tick, 1_000);
  return () => {
    LISTENERS.delete(listener);
    if (LISTENERS.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  second += 1;
  for (const listener of LISTENERS) listener();
}

/** Returns the server's time, updated every `everySeconds` seconds. The whole page shares one timer. */
export function useNow(everySeconds = 1): number {
  useSyncExternalStore(subscribe, () => Math.floor(second / everySeconds));
  return serverNow();
}
