import { type RefObject, useRef, useState } from 'react';

import classes from '#console/components/forms/calendar.module.css';
import { usePlaceAt } from '#console/components/forms/option_list.tsx';
import { dateFormat } from '#console/components/text/time_text.ts';
import { IconChevronLeft, IconChevronRight } from '#console/icons.ts';

const MONTH = dateFormat({ month: 'long', year: 'numeric', timeZone: 'UTC' });
const WEEKDAY = dateFormat({ weekday: 'short', timeZone: 'UTC' });
const FULL_DAY = dateFormat({ dateStyle: 'full', timeZone: 'UTC' });
const WEEK = 7;
const DAYS_SHOWN = 6 * WEEK;

const WIDTH_PX = 288;
const HEIGHT_MAX_PX = 340;

interface CalendarProps {
  readonly field: RefObject<HTMLElement | null>;
  /** Chosen day (YYYY-MM-DD); empty for none. */
  readonly day: string;
  readonly onChoose: (day: string) => void;
}

/**
 * Month with a button for each day, its weeks beginning on Monday. It is not a library's: Mantine's needs a further library
 * of dates, and the browser's own takes the keys that are typed into the field, shows clocks with AM and PM, and covers
 * what lies around it.
 */
export function Calendar({ field, day, onChoose }: CalendarProps) {
  const popover = useRef<HTMLDivElement>(null);
  usePlaceAt(field, popover, HEIGHT_MAX_PX, WIDTH_PX);
  const [month, setMonth] = useState(() => (day === '' ? today() : day).slice(0, 'YYYY-MM'.length));
  const move = (by: number): void => {
    const [year = 0, number = 1] = month.split('-').map(Number);
    setMonth(new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 'YYYY-MM'.length));
  };
  const days = daysAround(month);
  return (
    <div
      ref={popover}
      popover="manual"
      className={classes.calendar}
      role="group"
      aria-label="Calendar"
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
    >
      <div className="row">
        <button type="button" tabIndex={-1} aria-label="Month before" onClick={() => move(-1)}>
          <IconChevronLeft size={18} />
        </button>
        <b className="grow">{MONTH.format(Date.parse(`${month}-01`))}</b>
        <button type="button" tabIndex={-1} aria-label="Month after" onClick={() => move(1)}>
          <IconChevronRight size={18} />
        </button>
      </div>
      <div className={classes.days}>
        {days.slice(0, WEEK).map((shown) => (
          <span key={shown} className="dimmed tiny">
            {WEEKDAY.format(Date.parse(shown))}
          </span>
        ))}
        {days.map((shown) => (
          <button
            key={shown}
            type="button"
            tabIndex={-1}
            aria-label={FULL_DAY.format(Date.parse(shown))}
            aria-pressed={shown === day}
            data-outside={shown.startsWith(month) ? undefined : ''}
            {...(shown === today() && { 'aria-current': 'date' })}
            onClick={() => onChoose(shown)}
          >
            {Number(shown.slice(-2))}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Returns the day of the viewer. */
function today(): string {
  const now = new Date();
  return dayOf(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
}

/** Returns the six weeks that show a month. */
function daysAround(month: string): string[] {
  const first = new Date(`${month}-01T00:00Z`);
  const before = (first.getUTCDay() + WEEK - 1) % WEEK;
  return Array.from({ length: DAYS_SHOWN }, (_, index) =>
    dayOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), index - before + 1)),
  );
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
