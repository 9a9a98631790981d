import { ActionIcon } from '@mantine/core';
import { type KeyboardEvent, useRef } from 'react';

import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { clockText } from '#console/components/text/time_text.ts';
import { IconChevronLeft, IconChevronRight, IconX } from '#console/icons.ts';
import { countText, dayText, shortCount } from '#console/pages/exceptions/count_text.ts';
import { deployText } from '#console/pages/exceptions/deploy_text.ts';
import classes from '#console/pages/exceptions/days_chart.module.css';

type Day = ExceptionOverview['days'][number];

interface DaysChartProps {
  readonly days: readonly Day[];
  /** Deploys, which mark their days. */
  readonly deploys: ExceptionOverview['deploys'];
  /** Day whose events are shown, if only one is. */
  readonly shown: string | undefined;
  onDay(day: string | undefined): void;
}

const DAYS_SHOWN = 30;

/** Chart of one bar a day; each leads to the events of its day. The arrow keys move between bars. */
export function DaysChart({ days, deploys, shown, onDay }: DaysChartProps) {
  const recent = days.slice(-DAYS_SHOWN);
  const most = Math.max(1, ...recent.map(({ count }) => count));
  const deployOn = new Map(deploys.map((deploy) => [deploy.date, deploy]));
  const isDeployed = recent.some(({ date }) => deployOn.has(date));
  const bars = useRef<HTMLOListElement>(null);
  const focusable = shown ?? recent.findLast(({ count }) => count > 0)?.date;
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const buttons = [...(bars.current?.querySelectorAll('button') ?? [])];
    const current = buttons.indexOf(event.target as HTMLButtonElement);
    for (let next = current + by; buttons[next] !== undefined; next += by) {
      if (buttons[next]?.disabled === true) continue;
      buttons[next]?.focus();
      return;
    }
  };
  return (
    <Card
      title="Events by day"
      about={`The last ${recent.length} days, in UTC; at most ${shortCount(most)} in a day`}
      action={shown !== undefined && <ShownDay days={days} shown={shown} onDay={onDay} />}
    >
      <ol className={`${classes.bars} plain-list`} ref={bars} onKeyDown={move}>
        {recent.map(({ date, count }) => {
          const deploy = deployOn.get(date);
          const text = `${dayText(date)}: ${deploy === undefined ? '' : `${deployText(deploy)}, `}${countText(count, 'event')}`;
          return (
            <li key={date} data-deployed={deploy === undefined ? undefined : ''}>
              <button
                type="button"
                className={classes.bar}
                disabled={count === 0}
                tabIndex={date === focusable ? 0 : -1}
                aria-pressed={date === shown}
                aria-label={text}
                title={text}
                onClick={() => onDay(date === shown ? undefined : date)}
              >
                <span style={{ height: count === 0 ? 1 : `max(3px, ${(100 * count) / most}%)` }} />
              </button>
            </li>
          );
        })}
      </ol>
      <div className={`${classes.axis} apart dimmed tiny`} aria-hidden>
        <span>{dayText(recent[0]?.date ?? '')}</span>
        {isDeployed && <span className={classes.legend}>deployed</span>}
        <span>today</span>
      </div>
    </Card>
  );
}

function ShownDay({ days, shown, onDay }: Pick<DaysChartProps, 'days' | 'onDay'> & { readonly shown: string }) {
  const busy = days.filter(({ date, count }) => count > 0 || date === shown);
  const index = busy.findIndex(({ date }) => date === shown);
  const [before, after] = [busy[index - 1], busy[index + 1]];
  return (
    <div className={`${classes.shown} row small nowrap`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        disabled={before === undefined}
        onClick={() => onDay(before?.date)}
        aria-label="Previous day with events"
      >
        <IconChevronLeft size={18} />
      </ActionIcon>
      <span className="numbers">
        {dayText(shown)}, {countText(busy[index]?.count ?? 0, 'event')}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        disabled={after === undefined}
        onClick={() => onDay(after?.date)}
        aria-label="The next day with events"
      >
        <IconChevronRight size={18} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" size={36} onClick={() => onDay(undefined)} aria-label="Show all days">
        <IconX size={18} />
      </ActionIcon>
    </div>
  );
}

/** Chart of one bar an hour, of an exception that began within a day. */
export function HoursChart({ hours }: { readonly hours: NonNullable<ExceptionOverview['hours']> }) {
  const most = Math.max(1, ...hours.map(({ count }) => count));
  return (
    <Card title="Events by hour" about={`It began within the last 24 hours; at most ${shortCount(most)} in an hour`}>
      <ol className={`${classes.bars} plain-list`}>
        {hours.map(({ at, count }) => {
          const text = `${clockText(at)}: ${countText(count, 'event')}`;
          return (
            <li key={at}>
              <span className={classes.bar} role="img" aria-label={text} title={text}>
                <span style={{ height: count === 0 ? 1 : `max(3px, ${(100 * count) / most}%)` }} />
              </span>
            </li>
          );
        })}
      </ol>
      <div className={`${classes.axis} apart dimmed tiny`} aria-hidden>
        <span>24 h ago</span>
        <span>now</span>
      </div>
    </Card>
  );
}
