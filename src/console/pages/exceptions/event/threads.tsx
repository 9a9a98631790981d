import type { ExceptionEvent } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { Frames } from '#console/pages/exceptions/event/stack.tsx';
import classes from '#console/pages/exceptions/event/threads.module.css';

/** Card of the other threads at that moment, each with its name. */
export function Threads({ event: { otherThreads } }: { readonly event: ExceptionEvent }) {
  if (otherThreads.length === 0) return null;
  return (
    <Card title="Other threads" about={`${countText(otherThreads.length, 'thread')} besides the one above`}>
      {otherThreads.map(({ id, name, state, crashed, frames }, index) => (
        <details
          // Threads may have neither names nor ids.
          // eslint-disable-next-line react/no-array-index-key
          key={index}
          className={classes.thread}
        >
          <summary>
            {name ?? `Thread ${id ?? index + 1}`}
            <span className={classes.facts}>
              {[crashed ? 'crashed' : null, state, countText(frames.length, 'frame')]
                .filter((fact) => fact !== null)
                .join(' · ')}
            </span>
          </summary>
          {frames.length > 0 && <Frames frames={frames.toReversed()} />}
        </details>
      ))}
    </Card>
  );
}
