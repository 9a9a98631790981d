import {
  clockText,
  coarseDurationText,
  dateText,
  dateTimeText,
  fullText,
  relativeText,
} from '#console/components/text/time_text.ts';
import { useNow } from '#console/components/text/use_now.ts';

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
