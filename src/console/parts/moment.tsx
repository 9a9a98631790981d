import { useNow } from '#console/parts/now.ts';
import { clockText, coarse, dateText, dateTimeText, fullText, relativeText } from '#console/parts/time_text.ts';

interface MomentProps {
  readonly at: string;
  /** How it is told: how long ago, for how long by now, the day and the time, the day, or the time of day. */
  readonly as?: 'ago' | 'age' | 'date_time' | 'date' | 'clock';
}

/** A time in the viewer's zone; the whole of it is shown on hovering. */
export function Moment({ at, as = 'ago' }: MomentProps) {
  return (
    <time dateTime={at} title={fullText(at)}>
      {as === 'ago' || as === 'age' ? <Relative at={Date.parse(at)} as={as} /> : absolute(at, as)}
    </time>
  );
}

function Relative({ at, as }: { readonly at: number; readonly as: 'ago' | 'age' }) {
  const now = useNow(5);
  return as === 'ago' ? relativeText(at, now) : coarse(Math.max(0, now - at));
}

function absolute(at: string, as: 'date_time' | 'date' | 'clock'): string {
  switch (as) {
    case 'date_time':
      return dateTimeText(at);
    case 'date':
      return dateText(at);
    case 'clock':
      return clockText(at);
  }
}
