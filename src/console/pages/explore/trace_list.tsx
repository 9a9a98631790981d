import type { ResultOf } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { TraceId } from '#console/components/time_chart/trace_dots.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/explore/explore.module.css';

interface TraceListProps {
  readonly exemplars: ResultOf<'list_exemplars'>['exemplars'];
  readonly valueText: (value: number) => string;
}

/** List of the observations that stand as dots in the chart, with their traces. */
export function TraceList({ exemplars, valueText }: TraceListProps) {
  if (exemplars.length === 0) return null;
  return (
    <details className={classes.traces}>
      <summary>
        Traces of single observations <span className="numbers">({exemplars.length})</span>
      </summary>
      <Card
        rows={exemplars.map(({ at, value, traceId, spanId, labels }) => (
          <Row
            key={`${at} ${traceId} ${spanId}`}
            title={
              <>
                <b className="numbers">{valueText(value)}</b>, <Timestamp at={at} format="date_time" />
              </>
            }
            sub={Object.entries(labels)
              .map(([name, text]) => `${name}=${text}`)
              .join(', ')}
          >
            <TraceId traceId={traceId} />
          </Row>
        ))}
      />
    </details>
  );
}
