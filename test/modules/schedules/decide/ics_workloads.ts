import { readIcsDates } from '#modules/schedules/decide/ics_dates.ts';
import { Temporal } from '#kernel/time.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const TODAY = Temporal.PlainDate.from('2027-06-01');
const EVENT = 'BEGIN:VEVENT\nDTSTART:20270101\nDTEND:20270304\nRRULE:FREQ=YEARLY\nEND:VEVENT\n';

export default {
  'the same long event of every year again and again': (count) => {
    const text = `BEGIN:VCALENDAR\n${EVENT.repeat(count)}END:VCALENDAR`;
    return () => readIcsDates(text, TODAY);
  },
} satisfies Workloads;
