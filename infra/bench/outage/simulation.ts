import { remainingIncidents } from '#modules/incidents/decide/incident_limit.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { planSteps } from '#modules/policies/decide/escalation.ts';
import { limitMessages, type RecentMessage, type WaitingDigest } from '#modules/notifications/decide/message_limit.ts';
import { decideRecipients } from '#modules/policies/decide/recipients.ts';
import { nextRetryDelayMs } from '#modules/notifications/decide/retry.ts';
import { scheduleFairly, type WaitingWork } from '#storage/queue/fair_turns.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import { seeded } from '#infra/bench/seeded.ts';
import { type Letter, Provider, type ProviderLimits } from './provider.ts';
import { type Cause, type Team, teamOf } from './region.ts';

/** Waiting items by organization: each organization takes turns, in the order of the stores' `listDue`. */
class Turns<Item> {
  readonly #lines = new Map<number, Item[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get organizations(): number {
    return this.#lines.size;
  }

  add(organization: number, item: Item): void {
    const line = this.#lines.get(organization);
    if (line === undefined) this.#lines.set(organization, [item]);
    else line.push(item);
    this.#length += 1;
  }

  /** The first of each organization, then the second of each, up to so many. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    while (taken.length < count && this.#length > 0) {
      for (const [organization, line] of this.#lines) {
        if (taken.length >= count) return taken;
        const item = line.shift();
        if (item !== undefined) {
          taken.push(item);
          this.#length -= 1;
        }
        // The organization that had its turn goes behind the others.
        this.#lines.delete(organization);
        if (line.length > 0) this.#lines.set(organization, line);
      }
    }
    return taken;
  }
}

/** Number of processes, and the work of each in a second (measured: see src/docs/sizing.md). */
export interface Fleet {
  readonly workers: number;
  readonly eventsPerWorker: number;
  readonly pagers: number;
  /** Messages that a pager claims, folds or sends. */
  readonly messagesPerPager: number;
  readonly providers: Readonly<Partial<Record<Channel, ProviderLimits>>>;
}

/** Every event of a cause has to be grouped before its incident opens. */
const EVENTS_PER_CAUSE = 20;
const INCIDENT_LIMIT = { incidents: 20, minutes: 5 };
/** People answer this long after the first message reaches them, on average. */
const ANSWER_SECONDS = 240;
/** Share of the people reached who answer. The others sleep on, and the next step pages somebody else. */
const ANSWERING_SHARE = 0.85;
const BATCH = { items: 1_000, itemsOfOrg: 500, jobs: 96 };

interface Incident {
  readonly organization: number;
  readonly team: Team;
  readonly triggeredSecond: number;
  isAnswered: boolean;
}

/** A message that waits: a page, or a digest of pages. */
interface Waiting {
  readonly channel: Channel;
  readonly user: string;
  readonly organization: number;
  readonly dueSecond: number;
  readonly incidents: number[];
  readonly isDigest: boolean;
  tries: number;
  readonly firstSecond: number;
}

interface Mailbox {
  sent: RecentMessage[];
  digest: (WaitingDigest & { readonly message: Waiting }) | null;
}

/** Events of a minute. */
export interface Minute {
  incidents: number;
  stormMembers: number;
  due: number;
  asked: number;
  refused: number;
  digests: number;
  folded: number;
  cancelled: number;
  failed: number;
  arrived: number;
  atProvider: number;
  waiting: number;
}

export interface Arrival {
  readonly channel: Channel;
  readonly organization: number;
  readonly lateSeconds: number;
}

export interface Outcome {
  readonly minutes: readonly Minute[];
  readonly arrivals: readonly Arrival[];
  /** Seconds from the request to the provider, without waiting in its line. */
  readonly askedLate: readonly number[];
  readonly firstWord: ReadonlyMap<string, number>;
  readonly peoplePaged: number;
}

const newMinute = (): Minute => ({
  incidents: 0,
  stormMembers: 0,
  due: 0,
  asked: 0,
  refused: 0,
  digests: 0,
  folded: 0,
  cancelled: 0,
  failed: 0,
  arrived: 0,
  atProvider: 0,
  waiting: 0,
});

/** Plays an outage second by second with the decisions of the product and a clock of its own. */
export class OutageSimulation {
  readonly #fleet: Fleet;
  readonly #random: () => number;
  readonly #providers: ReadonlyMap<Channel, Provider>;
  readonly #configured: ReadonlySet<Channel>;
  readonly #events = new Map<number, WaitingWork & { readonly cause: Cause }>();
  readonly #incidents: Incident[] = [];
  readonly #opened = new Map<number, { since: number; count: number; hasStorm: boolean }>();
  readonly #steps = new Map<number, { incident: number; step: number }[]>();
  readonly #later = new Map<number, Waiting[]>();
  readonly #messages = new Turns<Waiting>();
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #answers = new Map<number, string[]>();
  readonly #pagedFor = new Map<string, number[]>();
  readonly #firstWord = new Map<string, number>();
  readonly #paged = new Map<string, number>();
  readonly #minutes: Minute[] = [];
  readonly #arrivals: Arrival[] = [];
  readonly #askedLate: number[] = [];

  constructor(fleet: Fleet, seed: number) {
    this.#fleet = fleet;
    this.#random = seeded(seed);
    this.#providers = new Map(
      Object.entries(fleet.providers).map(([channel, limits]) => [channel as Channel, new Provider(limits)]),
    );
    this.#configured = new Set(this.#providers.keys());
  }

  run(causes: readonly Cause[], minutes: number): Outcome {
    let next = 0;
    for (let second = 0; second < minutes * 60; second += 1) {
      const minute = (this.#minutes[Math.floor(second / 60)] ??= newMinute());
      for (let cause = causes[next]; cause !== undefined && cause.second <= second; cause = causes[next]) {
        this.#events.set(next, {
          orgId: String(cause.organization),
          serviceId: String(cause.service),
          items: EVENTS_PER_CAUSE,
          cause,
        });
        next += 1;
      }
      this.#group(second, minute);
      this.#fire(second, minute);
      this.#send(second, minute);
      this.#deliver(second, minute);
      this.#answer(second);
      minute.atProvider = [...this.#providers.values()].reduce((sum, { waiting }) => sum + waiting, 0);
      minute.waiting = this.#messages.length;
    }
    return {
      minutes: this.#minutes,
      arrivals: this.#arrivals,
      askedLate: this.#askedLate,
      firstWord: this.#firstWord,
      peoplePaged: this.#paged.size,
    };
  }

  /** Workers take turns, and an incident opens when the events of its cause are grouped. */
  #group(second: number, minute: Minute): void {
    let left = this.#fleet.workers * this.#fleet.eventsPerWorker;
    while (left > 0 && this.#events.size > 0) {
      const ready: (WaitingWork & { readonly cause: Cause; readonly place: number })[] = [];
      for (const [place, work] of this.#events) {
        ready.push({ ...work, place });
        if (ready.length >= READY_MAX) break;
      }
      for (const { place, cause, items } of scheduleFairly(ready, [], BATCH)) {
        this.#events.delete(place);
        left -= items;
        this.#open(cause, second, minute);
      }
    }
  }

  #open({ organization, service }: Cause, second: number, minute: Minute): void {
    let recent = this.#opened.get(service);
    if (recent === undefined || second - recent.since >= INCIDENT_LIMIT.minutes * 60) {
      recent = { since: second, count: 0, hasStorm: false };
      this.#opened.set(service, recent);
    }
    const isMember = remainingIncidents(recent.count, INCIDENT_LIMIT) === 0;
    recent.count += 1;
    if (isMember) minute.stormMembers += 1;
    if (isMember && recent.hasStorm) return;
    recent.hasStorm ||= isMember;
    minute.incidents += 1;
    const team = teamOf(organization, service);
    const incident = this.#incidents.push({ organization, team, triggeredSecond: second, isAnswered: false }) - 1;
    for (const { stepIndex, dueAt } of planSteps(team.steps, instantOf(second))) {
      push(this.#steps, dueAt.epochMilliseconds / 1_000, { incident, step: stepIndex });
    }
  }

  #fire(second: number, minute: Minute): void {
    for (const { incident: number, step: index } of this.#steps.get(second) ?? []) {
      const incident = this.#incidents[number];
      const step = incident?.team.steps[index];
      if (incident === undefined || step === undefined || incident.isAnswered) continue;
      const { team, organization } = incident;
      for (const page of decideRecipients(step, team.onCall, team.contacts, this.#configured).pages) {
        if (page.kind !== 'notify') continue;
        minute.due += 1;
        const { channel, userId: user } = page;
        if (!this.#paged.has(user)) this.#paged.set(user, second);
        const message = { channel, user, organization, dueSecond: second, incidents: [number], isDigest: false };
        this.#messages.add(organization, { ...message, tries: 0, firstSecond: second });
      }
    }
    this.#steps.delete(second);
  }

  /** Pagers claim what is due, organizations in turn; a message that is one too many joins a digest. */
  #send(second: number, minute: Minute): void {
    for (const message of this.#later.get(second) ?? []) this.#messages.add(message.organization, message);
    this.#later.delete(second);
    const now = instantOf(second);
    for (const message of this.#messages.take(this.#fleet.pagers * this.#fleet.messagesPerPager)) {
      if (message.incidents.every((number) => this.#incidents[number]?.isAnswered === true)) {
        minute.cancelled += message.incidents.length;
        if (message.isDigest) this.#mailbox(message).digest = null;
        continue;
      }
      if (message.isDigest || message.tries > 0 || this.#passes(message, now, minute))
        this.#ask(message, second, minute);
    }
  }

  #passes(message: Waiting, now: Temporal.Instant, minute: Minute): boolean {
    const mailbox = this.#mailbox(message);
    const windowStart = now.epochMilliseconds - 60_000;
    mailbox.sent = mailbox.sent.filter(({ at }) => at.epochMilliseconds > windowStart);
    const decision = limitMessages(
      'page',
      { sent: mailbox.sent, digests: mailbox.digest === null ? [] : [mailbox.digest] },
      now,
    );
    switch (decision.kind) {
      case 'send':
        mailbox.sent.push({ at: now, carriesPage: true });
        return true;
      case 'join':
        mailbox.digest?.message.incidents.push(...message.incidents);
        minute.folded += 1;
        return false;
      case 'open_digest': {
        const digest: Waiting = { ...message, isDigest: true, incidents: [...message.incidents] };
        mailbox.digest = { dueAt: decision.dueAt, carriesPage: true, message: digest };
        push(this.#later, Math.ceil(decision.dueAt.epochMilliseconds / 1_000), digest);
        minute.digests += 1;
        minute.folded += 1;
        return false;
      }
    }
  }

  #ask(message: Waiting, second: number, minute: Minute): void {
    const { channel, user, organization, dueSecond, incidents } = message;
    if (message.isDigest && message.tries === 0) {
      const mailbox = this.#mailbox(message);
      mailbox.digest = null;
      mailbox.sent.push({ at: instantOf(second), carriesPage: true });
    }
    message.tries += 1;
    if (this.#providers.get(channel)?.request({ channel, user, organization, dueSecond, incidents }) === true) {
      minute.asked += 1;
      this.#askedLate.push(second - dueSecond);
      return;
    }
    minute.refused += 1;
    const delayMs = nextRetryDelayMs(message.tries, (second - message.firstSecond) * 1_000, this.#random());
    if (delayMs === null) minute.failed += 1;
    else push(this.#later, second + Math.max(1, Math.round(delayMs / 1_000)), message);
  }

  #deliver(second: number, minute: Minute): void {
    for (const provider of this.#providers.values()) {
      for (const letter of provider.leave()) this.#arrive(letter, second, minute);
    }
  }

  #arrive({ channel, user, organization, dueSecond, incidents }: Letter, second: number, minute: Minute): void {
    minute.arrived += 1;
    this.#arrivals.push({ channel, organization, lateSeconds: second - dueSecond });
    push(this.#pagedFor, user, ...incidents);
    if (!this.#firstWord.has(user)) this.#firstWord.set(user, second - (this.#paged.get(user) ?? second));
    const isAnswered = this.#incidents[incidents[0] ?? 0]?.isAnswered === true;
    if (isAnswered || !answers(user)) return;
    const waits = Math.ceil(-Math.log(1 - this.#random()) * ANSWER_SECONDS);
    push(this.#answers, second + waits, user);
  }

  /** Somebody acknowledges all that they were told of. */
  #answer(second: number): void {
    for (const user of this.#answers.get(second) ?? []) {
      for (const number of this.#pagedFor.get(user) ?? []) {
        const incident = this.#incidents[number];
        if (incident !== undefined) incident.isAnswered = true;
      }
      this.#pagedFor.delete(user);
    }
    this.#answers.delete(second);
  }

  #mailbox({ user, channel }: Waiting): Mailbox {
    const key = `${user} ${channel}`;
    const mailbox = this.#mailboxes.get(key);
    if (mailbox !== undefined) return mailbox;
    const made: Mailbox = { sent: [], digest: null };
    this.#mailboxes.set(key, made);
    return made;
  }
}

/** Number of jobs that a worker reads to decide whose turn it is. */
const READY_MAX = 500;

/** The same people sleep on whatever they are sent. */
const answers = (user: string): boolean => (Number(user) * 0.618_033_988_75) % 1 < ANSWERING_SHARE;

const instantOf = (second: number): Temporal.Instant => fromEpochMilliseconds(second * 1_000);

function push<Key, Item>(lists: Map<Key, Item[]>, key: Key, ...items: readonly Item[]): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [...items]);
  else list.push(...items);
}
