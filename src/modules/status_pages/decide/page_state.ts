import type { Temporal } from '#kernel/time.ts';
import {
  HISTORY_DAYS,
  type Impact,
  type Stage,
  worseImpact,
  worstImpact,
} from '#modules/status_pages/decide/publication.ts';

/** An incident as people published it. Nothing else of an incident ever reaches a page. */
export interface PublishedIncident {
  readonly id: string;
  readonly title: string;
  readonly impact: Impact;
  readonly serviceIds: readonly string[];
  readonly beganAt: Temporal.Instant;
  readonly endedAt: Temporal.Instant | null;
  /** Newest first. */
  readonly updates: readonly PublishedUpdate[];
}

export interface PublishedUpdate {
  readonly stage: Stage;
  readonly body: string;
  readonly at: Temporal.Instant;
}

export interface PageComponent {
  readonly serviceId: string;
  readonly groupName: string;
  readonly name: string;
}

/** A page as it was set up, and what was published on it in its history. */
export interface PageContent {
  readonly title: string;
  readonly about: string | null;
  readonly isPublic: boolean;
  /** Services in the order of the page. */
  readonly components: readonly PageComponent[];
  /** Newest first. */
  readonly publications: readonly PublishedIncident[];
}

/** A day of a component's history with trouble, `0` being the oldest of the history. */
interface DayMark {
  readonly day: number;
  readonly impact: Impact;
}

export interface ComponentState {
  readonly name: string;
  /** Null: nothing is known to be wrong with it. */
  readonly impact: Impact | null;
  readonly days: readonly DayMark[];
}

export interface PageState {
  readonly title: string;
  readonly about: string | null;
  readonly isPublic: boolean;
  readonly impact: Impact | null;
  readonly groups: readonly { readonly name: string; readonly components: readonly ComponentState[] }[];
  readonly open: readonly PublishedIncident[];
  readonly past: readonly { readonly day: string; readonly incidents: readonly PublishedIncident[] }[];
  /** Public names of the services that each publication affects, by its id. */
  readonly affected: ReadonlyMap<string, readonly string[]>;
}

/** Returns the first instant of the history of a page, at the start of a day in UTC. */
export function historyStart(now: Temporal.Instant): Temporal.Instant {
  return startOfDay(now).subtract({ hours: 24 * (HISTORY_DAYS - 1) });
}

/** Returns what a page shows at a time. */
export function pageStateOf(
  { title, about, isPublic, components, publications }: PageContent,
  now: Temporal.Instant,
): PageState {
  const open = publications.filter(({ endedAt }) => endedAt === null);
  const start = historyStart(now);
  const ended = publications.filter(
    ({ endedAt }) => endedAt !== null && endedAt.epochMilliseconds >= start.epochMilliseconds,
  );
  const names = new Map(components.map(({ serviceId, name }) => [serviceId, name]));
  const groups = Map.groupBy(components, ({ groupName }) => groupName);
  return {
    title,
    about,
    isPublic,
    impact: worstImpact(open.map(({ impact }) => impact)),
    groups: [...groups].map(([name, members]) => {
      return { name, components: members.map((component) => componentStateOf(component, publications, now)) };
    }),
    open,
    past: [...Map.groupBy(ended, ({ beganAt }) => dayOf(beganAt))].map(([day, incidents]) => ({ day, incidents })),
    affected: new Map(
      publications.map(({ id, serviceIds }) => [id, serviceIds.flatMap((serviceId) => names.get(serviceId) ?? [])]),
    ),
  };
}

function componentStateOf(
  { serviceId, name }: PageComponent,
  publications: readonly PublishedIncident[],
  now: Temporal.Instant,
): ComponentState {
  const affecting = publications.filter(({ serviceIds }) => serviceIds.includes(serviceId));
  const start = historyStart(now);
  const impacts = new Map<number, Impact>();
  for (const { impact, beganAt, endedAt } of affecting) {
    const last = dayIndex(start, endedAt ?? now);
    for (let day = Math.max(0, dayIndex(start, beganAt)); day <= Math.min(last, HISTORY_DAYS - 1); day += 1) {
      impacts.set(day, worseImpact(impacts.get(day), impact));
    }
  }
  return {
    name,
    impact: worstImpact(affecting.filter(({ endedAt }) => endedAt === null).map(({ impact }) => impact)),
    days: [...impacts].map(([day, worst]) => ({ day, impact: worst })).toSorted((a, b) => a.day - b.day),
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function dayIndex(start: Temporal.Instant, at: Temporal.Instant): number {
  return Math.floor((at.epochMilliseconds - start.epochMilliseconds) / DAY_MS);
}

function startOfDay(at: Temporal.Instant): Temporal.Instant {
  return at.toZonedDateTimeISO('UTC').startOfDay().toInstant();
}

function dayOf(at: Temporal.Instant): string {
  return at.toZonedDateTimeISO('UTC').toPlainDate().toString();
}
