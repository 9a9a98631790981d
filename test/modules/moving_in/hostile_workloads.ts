import { durationMinutes, ruleOfExpression } from '#modules/moving_in/decide/other/prom_rule.ts';
import { readICal } from '#modules/moving_in/decide/other/read_ical.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const UNITS = ['\t', '0', '> ', '> \t', ' and\t', 'or ', '{', '}', '*\t', 'sum(', 'MAILTO:A', 'a-', '@a.', 'x[5m:'];

function calendarOf(text: string): string {
  const properties = ['DTSTART:20260101', 'DTEND:20260102', `SUMMARY:${text}`, `ATTENDEE:${text}`];
  return ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', ...properties, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n');
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  expression: (text) => ruleOfExpression(`a > ${text}x`),
  duration: durationMinutes,
  calendar: (text) => readICal([{ path: 'a.ics', value: calendarOf(text) }], { now: 0, proofFrom: null }),
};

export default Object.fromEntries(
  Object.entries(READERS).flatMap(([name, read]) =>
    UNITS.map((unit) => [
      `${name} of ${JSON.stringify(unit)}`,
      (size: number) => {
        const text = unit.repeat(Math.floor(size / unit.length));
        return () => read(text);
      },
    ]),
  ),
) satisfies Workloads;
