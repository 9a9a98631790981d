import { count, duration, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable } from './harness.ts';
import { causesOf, type RegionSetting } from './outage/region.ts';
import { type Fleet, OutageSimulation, type Outcome } from './outage/simulation.ts';

const REGION: RegionSetting = {
  organizations: 10_000,
  services: 1_000_000,
  causes: 222_000,
  seconds: 300,
  bystanders: 200,
  seed: 16,
};
const MINUTES = 60;
/** The minutes that are printed. */
const SHOWN: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 45]);

/** Measured on two cores: 0.35 ms of a worker an event, about 3 ms of a pager a message. */
const PROCESSES = { workers: 8, eventsPerWorker: 2_000, pagers: 4, messagesPerPager: 300 };

/** One account of a provider of messages: 100 SMS and 30 calls a second; push services take far more. */
const ONE_ACCOUNT: Fleet = {
  ...PROCESSES,
  providers: {
    push: { requestsPerSecond: 2_000, leavingPerSecond: 2_000 },
    sms: { requestsPerSecond: 400, leavingPerSecond: 100 },
    call: { requestsPerSecond: 200, leavingPerSecond: 30 },
  },
};

/** The same organizations divided among ten accounts and as many pagers. */
const TEN_ACCOUNTS: Fleet = {
  ...PROCESSES,
  pagers: 40,
  providers: {
    push: { requestsPerSecond: 20_000, leavingPerSecond: 20_000 },
    sms: { requestsPerSecond: 4_000, leavingPerSecond: 1_000 },
    call: { requestsPerSecond: 2_000, leavingPerSecond: 300 },
  },
};

export const outage: Bench = {
  name: 'outage',
  about: 'a simulated regional outage: 10,000 organizations, 1 million services, 200,000 incidents in five minutes',
  async run() {
    const causes = causesOf(REGION);
    printInputs({
      organizations: count(REGION.organizations),
      services: count(REGION.services),
      'causes of incidents': `${count(causes.length)} within ${duration(REGION.seconds * 1_000)}, half of them in the first minute`,
      decisions:
        'those of the product (turns, storms, recipients, three messages a minute, retries); no store, no network',
      people: '85 % answer, four minutes after a message reaches them on average',
      lateness: 'in whole seconds',
    });
    for (const [name, fleet] of [
      ['one account', ONE_ACCOUNT],
      ['ten accounts', TEN_ACCOUNTS],
    ] as const) {
      const began = performance.now();
      const outcome = new OutageSimulation(fleet, REGION.seed).run(causes, MINUTES);
      console.log(
        `  ${name}: ${fleet.workers} workers, ${fleet.pagers} pagers, ` +
          `${fleet.providers.sms?.leavingPerSecond} SMS and ${fleet.providers.call?.leavingPerSecond} calls a second\n`,
      );
      printTable(minutesOf(outcome));
      printTable(latenessOf(outcome));
      const resident = Math.round(process.memoryUsage().rss / 1024 / 1024);
      console.log(`  simulated in ${duration(performance.now() - began)}, ${resident} MB resident\n`);
    }
  },
};

function minutesOf({ minutes }: Outcome): Record<string, string | number>[] {
  const all = minutes.map((minute, index) => ({ minute: String(index), ...minute }));
  return all
    .filter((_, index) => SHOWN.has(index))
    .map(
      ({
        minute,
        incidents,
        stormMembers,
        due,
        folded,
        digests,
        asked,
        refused,
        failed,
        arrived,
        atProvider,
        waiting,
      }) => ({
        minute,
        opened: count(incidents),
        'in storms': count(stormMembers),
        'pages due': count(due),
        'into digests': count(folded),
        digests: count(digests),
        'asked of provider': count(asked),
        'answered 429': count(refused),
        'given up': count(failed),
        arrived: count(arrived),
        'waits for pager': count(waiting),
        'waits at provider': count(atProvider),
      }),
    );
}

/** Organizations come in the order of how much they have. */
function latenessOf({ arrivals, askedLate, firstWord, peoplePaged }: Outcome): Record<string, string | number>[] {
  const row = (what: string, seconds: readonly number[]) => {
    if (seconds.length === 0) return { what, messages: '0', p50: '–', p99: '–', max: '–' };
    const { p50, p99, max } = spreadOf(seconds.map((late) => late * 1_000));
    const [median, most, last] = [p50, p99, max].map((ms) => (ms === 0 ? '< 1 s' : duration(ms)));
    return { what, messages: count(seconds.length), p50: median ?? '', p99: most ?? '', max: last ?? '' };
  };
  const late = (where: (arrival: Outcome['arrivals'][number]) => boolean) =>
    arrivals.filter(where).map(({ lateSeconds }) => lateSeconds);
  return [
    row('step due → asked of the provider', askedLate),
    row(
      'step due → push at the phone',
      late(({ channel }) => channel === 'push'),
    ),
    row(
      'step due → SMS at the phone',
      late(({ channel }) => channel === 'sms'),
    ),
    row(
      'step due → call at the phone',
      late(({ channel }) => channel === 'call'),
    ),
    row(
      'SMS, the 100 largest organizations',
      late(({ channel, organization }) => channel === 'sms' && organization < 100),
    ),
    row(
      'SMS, the 5,000 smallest',
      late(
        ({ channel, organization }) =>
          channel === 'sms' && organization >= 5_000 && organization < REGION.organizations,
      ),
    ),
    row(
      'SMS, organizations outside the region',
      late(({ channel, organization }) => channel === 'sms' && organization >= REGION.organizations),
    ),
    row(`first word to a person (of ${count(peoplePaged)} to be paged)`, [...firstWord.values()]),
  ];
}
